/** Sessions and surfaces for tests of features. */
import { type ExtensionSurface, type ExtensionUi, noUi } from "@tau/extensions";

export { createTestSession, type TestSession, type TestSessionParams } from "@tau/harness/testing";

/** A surface that keeps what extensions show. */
export class SurfaceUi implements ExtensionSurface {
  readonly mode = "rpc";
  readonly builtIns = { commands: [], keys: new Map<string, string>() };
  readonly #widgets: { key: string; lines: unknown }[] = [];
  readonly ui: ExtensionUi = {
    ...noUi,
    setWidget: (key: string, lines: unknown) => void this.#widgets.push({ key, lines }),
  };

  /** Lists the states of a widget, one after the other, without repetitions. */
  shown(key: string): unknown[] {
    const all = this.#widgets.filter((widget) => widget.key === key).map(({ lines }) => lines);
    const first = all[0] === undefined ? all.slice(1) : all;
    return first.filter((lines, index) => JSON.stringify(lines) !== JSON.stringify(first[index - 1]));
  }
}
