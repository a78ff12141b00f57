/** Mentions that extensions and features read: `@NAME:REST`. A file of that name comes first. */
import type { Clock, ImageContent, TextContent } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import type { SessionExtensions } from "@tau/extensions";
import type { SessionFeatures } from "@tau/extensions/internal";
import { type CompletionData, findMentions } from "@tau/protocol";
import type { Mentioned } from "../prompt/expand.ts";
import { formatMention } from "../completion/mention.ts";
import type { NamedAccess, NamedFiles } from "./named-files.ts";

interface ExtensionMentionsParts {
  getExtensions: () => SessionExtensions | undefined;
  features: Pick<SessionFeatures, "isFeature" | "listMentions" | "loadForMention">;
  namedFiles: Pick<NamedFiles, "judgeMention">;
  /** Records that text came in which neither the user nor the project wrote. */
  addTaint: (detail: string) => Promise<void>;
  clock: Clock;
}

type MentionSuggestions = Pick<CompletionData, "items" | "incomplete">;

/** About what the tool `read` shows of a file. */
const maxCharacters = 50 * 1024;
const maxImages = 10;
const maxItems = 100;
/** Suggestions that take longer are shown when the user types on. */
const maxCompletionMs = 300;

const none: MentionSuggestions = { items: [] };

export class ExtensionMentions {
  readonly #parts: ExtensionMentionsParts;

  constructor(parts: ExtensionMentionsParts) {
    this.#parts = parts;
  }

  /** `text` is what follows the `@`. Never rejects. */
  async read(text: string, reading: Pick<NamedAccess, "authority" | "signal">): Promise<Mentioned> {
    const { namedFiles, addTaint } = this.#parts;
    if (!(await this.#isHandled(text, "mention_read"))) return { kind: "missing" };
    const denied = await namedFiles.judgeMention(text, reading);
    if (denied !== undefined) return { kind: "failed", reason: denied };
    const { signal = new AbortController().signal } = reading;
    const answer = await this.#parts.getExtensions()?.emit({ type: "mention_read", text, signal });
    if (!answer) return { kind: "missing" };
    if (answer.problem !== undefined) return { kind: "failed", reason: answer.problem };
    await addTaint(`@${text}`);
    return { kind: "content", path: `@${text}`, ...cutContent(text, answer.content) };
  }

  /** Suggests what follows the `@`. Before a name and its colon are typed, no code of features is loaded. */
  async complete({ path, isQuoted }: { path: string; isQuoted: boolean }): Promise<MentionSuggestions> {
    const { features, clock } = this.#parts;
    if (!path.includes(":")) {
      const names = features.listMentions().filter((name) => path !== "" && name.startsWith(path));
      return { items: isQuoted ? [] : names.map((name) => ({ value: `${name}:` })) };
    }
    if (!(await this.#isHandled(path, "mention_complete"))) return none;
    const emitting = this.#parts.getExtensions()?.emit({ type: "mention_complete", text: path });
    const outcome = await untilTimeout(Promise.resolve(emitting), maxCompletionMs, clock);
    if (outcome.kind !== "done") return { items: [], incomplete: true };
    const items = (outcome.value?.items ?? []).slice(0, maxItems).flatMap(({ value, description }) => {
      // A mark at its end would be taken for one of the sentence.
      const isExact = findMentions(`@${value}`)[0]?.paths.at(-1) === value;
      const written = formatMention(value, isQuoted || !isExact);
      return written === undefined ? [] : [{ value: written, ...(description !== undefined && { description }) }];
    });
    return { items };
  }

  /** Whether somebody reads mentions of its name. Loads the feature that does. */
  async #isHandled(text: string, event: "mention_read" | "mention_complete"): Promise<boolean> {
    const { features, getExtensions } = this.#parts;
    const name = /^([^\s:/\\]+):/.exec(text)?.[1];
    if (name === undefined) return false;
    if (features.listMentions().includes(name)) {
      await features.loadForMention(name);
      return true;
    }
    return (
      getExtensions()
        ?.listHandlers(event)
        .some((extension) => !features.isFeature(extension)) ?? false
    );
  }
}

/** Joins the texts, which are cut if they are long, and lists the images. */
function cutContent(name: string, content: readonly (TextContent | ImageContent)[]) {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const images = content.filter((block) => block.type === "image");
  const hasAll = text.length <= maxCharacters && images.length <= maxImages;
  const left = `[${text.length - maxCharacters} more characters were left out.]`;
  return {
    text: text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters)}\n${left}`,
    images: images.slice(0, maxImages),
    ...(!hasAll && { cut: `@${name} is too long for a message: only the beginning was sent.` }),
  };
}
