/** Completion with what extensions add: arguments of their commands, and providers on top of ours. */
import type { UiFactory } from "@tau/extensions";
import type { AutocompleteItem, AutocompleteProvider, AutocompleteSuggestions } from "@tau/tui";
import type { LoadedExtensions } from "./extension-client.ts";
import { describeFailure } from "./guarded-component.ts";

/** Completes the arguments of commands of extensions, and passes everything else on. */
export function completeArguments(
  next: AutocompleteProvider,
  getLoaded: () => LoadedExtensions | undefined,
): AutocompleteProvider {
  return {
    ...next,
    async getSuggestions(lines, cursorLine, cursorCol, options): Promise<AutocompleteSuggestions | null> {
      const before = (lines[cursorLine] ?? "").slice(0, cursorCol);
      const [, name = "", prefix = ""] = (cursorLine === 0 && /^\/(\S+)\s(.*)$/.exec(before)) || [];
      const command = name === "" ? undefined : getLoaded()?.registrations.commands.get(name);
      const complete = command?.definition.getArgumentCompletions;
      if (!complete) return await next.getSuggestions(lines, cursorLine, cursorCol, options);
      const items = toItems(await complete(prefix));
      return items.length > 0 ? { items, prefix } : null;
    },
  };
}

/** A provider of an extension on top of another. Where it fails, the other one answers. */
export function stackProvider(
  current: AutocompleteProvider,
  factory: UiFactory<unknown>,
  onFailed: (message: string) => void,
): AutocompleteProvider {
  const guard = <T>(work: () => T, fallback: () => T): T => {
    try {
      return work();
    } catch (error) {
      onFailed(describeFailure("A completion of an extension", error));
      return fallback();
    }
  };
  const provider = guard(
    () => factory(current) as AutocompleteProvider,
    () => current,
  );
  return {
    ...(provider.triggerCharacters && {
      triggerCharacters: [...(current.triggerCharacters ?? []), ...provider.triggerCharacters],
    }),
    ...(current.searchDelayMs !== undefined && { searchDelayMs: current.searchDelayMs }),
    async getSuggestions(...args) {
      try {
        const suggestions = await provider.getSuggestions(...args);
        return suggestions && { ...suggestions, items: toItems(suggestions.items), prefix: String(suggestions.prefix) };
      } catch (error) {
        onFailed(describeFailure("A completion of an extension", error));
        return await current.getSuggestions(...args);
      }
    },
    applyCompletion: (...args) =>
      guard(
        () => provider.applyCompletion(...args),
        () => current.applyCompletion(...args),
      ),
    shouldTriggerFileCompletion: (...args) =>
      guard(
        () => provider.shouldTriggerFileCompletion?.(...args) ?? true,
        () => true,
      ),
  };
}

/** An extension may return anything. What cannot be drawn would end the program in the next frame. */
function toItems(items: readonly AutocompleteItem[] | null): AutocompleteItem[] {
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: Partial<AutocompleteItem> | null | undefined) => {
    if (typeof item?.value !== "string") return [];
    const { value, label, description } = item;
    return [
      {
        ...item,
        value,
        label: typeof label === "string" ? label : value,
        ...(description !== undefined && { description: String(description) }),
      },
    ];
  });
}
