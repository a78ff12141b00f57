/** Chooses and orders the models that are cycled through. */
import { fuzzyFilter, getKeybindings, type Theme, toPlainLine, truncateToWidth } from "@tau/tui";
import { SearchDialog } from "./search-dialog.ts";
import type { AppKeybinding } from "../keybindings.ts";
import { moveModel, orderModels, type ScopedModel, toggleModel, toggleModels } from "../scoped-models.ts";

interface ScopedModelsOptions {
  items: readonly ScopedModel[];
  /** The names of those that are chosen, in their order. */
  chosen: readonly string[];
  theme: Theme;
  getMaxRows: () => number;
  describeKey: (id: AppKeybinding) => string;
  onSave: (chosen: readonly string[]) => void;
  onCancel: () => void;
}

export class ScopedModelsDialog extends SearchDialog {
  readonly #options: ScopedModelsOptions;
  #chosen: readonly string[];
  #selected: string | undefined;

  constructor(options: ScopedModelsOptions) {
    super({ ...options, placeholder: "Type to search" });
    this.#options = options;
    this.#chosen = options.chosen;
  }

  override render(width: number): string[] {
    const { theme, describeKey } = this.#options;
    const models = this.#list();
    const selected = this.#getPosition(models);
    const { start, end } = this.getVisible(models.length, selected);
    const rows = models.slice(start, end).map(({ name, description }, offset) => {
      const isSelected = start + offset === selected;
      const box = this.#chosen.includes(name) ? theme.fg("success", "✓ ") : "  ";
      const title = isSelected ? theme.bold(toPlainLine(name)) : toPlainLine(name);
      const line = `${isSelected ? theme.fg("accent", "→ ") : "  "}${box}${title}  ${theme.fg("dim", toPlainLine(description))}`;
      return truncateToWidth(line, width, "…");
    });
    const hint = [
      `${this.#chosen.length} chosen`,
      "enter chooses",
      `${describeKey("app.models.reorderUp")}/${describeKey("app.models.reorderDown")} order`,
      `${describeKey("app.models.toggleProvider")} provider`,
      `${describeKey("app.models.enableAll")} all`,
      `${describeKey("app.models.clearAll")} none`,
      `${describeKey("app.models.save")} saves`,
    ].join(" · ");
    return this.frame("Models to cycle through", rows, theme.fg("dim", ` ${hint}`), width);
  }

  override handleInput(data: string): void {
    const keys = getKeybindings();
    const is = (id: Parameters<typeof keys.matches>[1]) => keys.matches(data, id);
    const models = this.#list();
    const position = this.#getPosition(models);
    const model = models[position];
    const names = models.map(({ name }) => name);
    if (is("tui.select.cancel")) this.#options.onCancel();
    else if (is("app.models.save")) this.#options.onSave(this.#chosen);
    else if (is("app.models.enableAll")) this.#chosen = [...new Set([...this.#chosen, ...names])];
    else if (is("app.models.clearAll")) this.#chosen = this.#chosen.filter((name) => !names.includes(name));
    else if (is("tui.select.up")) this.#selected = names.at(position - 1);
    else if (is("tui.select.down")) this.#selected = names[(position + 1) % names.length];
    else if (is("tui.select.pageUp")) this.#selected = names[Math.max(0, position - this.pageRows)];
    else if (is("tui.select.pageDown")) this.#selected = names[Math.min(names.length - 1, position + this.pageRows)];
    else if (model && is("tui.select.confirm")) this.#change(model, toggleModel(this.#chosen, model.name));
    else if (model && is("app.models.reorderUp")) this.#change(model, moveModel(this.#chosen, model.name, -1));
    else if (model && is("app.models.reorderDown")) this.#change(model, moveModel(this.#chosen, model.name, 1));
    else if (model && is("app.models.toggleProvider")) this.#change(model, this.#toggleProvider(model));
    else if (this.type(data)) this.#selected = undefined;
  }

  #toggleProvider({ provider }: ScopedModel): string[] {
    const names = this.#options.items.filter((item) => item.provider === provider).map(({ name }) => name);
    return toggleModels(this.#chosen, names);
  }

  /** The selection stays on the model, wherever it goes. */
  #change({ name }: ScopedModel, chosen: readonly string[]): void {
    this.#chosen = chosen;
    this.#selected = name;
  }

  #list(): ScopedModel[] {
    const models = orderModels(this.#options.items, this.#chosen);
    const query = this.search.getValue();
    return query === "" ? models : fuzzyFilter(models, query, ({ name, description }) => `${name} ${description}`);
  }

  #getPosition(models: readonly ScopedModel[]): number {
    return Math.max(
      0,
      models.findIndex(({ name }) => name === this.#selected),
    );
  }
}
