/** `tau config`: the list of resources, in which single ones are turned on and off. */
import { SerialQueue } from "@tau/ai/internal";
import type { Terminal } from "@tau/tui";
import type { Io } from "./command.ts";
import { jsonLine } from "../modes/json-line.ts";
import { tableText } from "../process/table.ts";
import { openPackageContext, type PackageContext } from "./package-context.ts";
import { listRows, type ResourceRow, turn } from "./resource-rows.ts";
import type { CommandArgs } from "./usage.ts";

/** In a terminal the list can be changed; otherwise it is printed. */
export async function configureResources(args: CommandArgs, io: Io): Promise<void> {
  const context = await openPackageContext(args, io);
  const { rows, problems } = await listRows(context);
  for (const { message } of problems) io.err(`tau: ${message}\n`);
  if (args.has("json")) {
    return io.out(rows.map(({ package: _package, ...row }) => jsonLine(row)).join(""));
  }
  if (rows.length === 0)
    return io.out("There are no extensions, skills, prompt templates, themes or agents to choose.\n");
  if (!io.terminal.input || !io.terminal.out) return print(rows, io);
  const { ProcessTerminal } = await import("@tau/tui");
  await changeInList(new ProcessTerminal(), rows, context);
}

/** Rejects after the list is closed, if a change could not be written. */
export async function changeInList(terminal: Terminal, rows: readonly ResourceRow[], context: PackageContext) {
  const queue = new SerialQueue();
  const failures: unknown[] = [];
  const keep = (error: unknown) => void failures.push(error);
  await showList(terminal, rows, (row, isOn) => void queue.add(() => turn(row, isOn, context)).catch(keep));
  await queue.whenIdle();
  if (failures.length > 0) throw failures[0];
}

function print(rows: readonly ResourceRow[], io: Io): void {
  const cells = rows.map(({ kind, name, from, isOn }) => [
    kind,
    name,
    isOn ? "on" : { text: "off", colour: "dim" as const },
    from,
  ]);
  io.out(
    tableText([{ title: "KIND" }, { title: "NAME" }, { title: "STATE" }, { title: "FROM", shrinks: true }], cells, io),
  );
}

const maxVisible = 15;

/** Space turns the selected resource on or off, at once; Escape ends. */
async function showList(
  terminal: Terminal,
  rows: readonly ResourceRow[],
  onTurn: (row: ResourceRow, isOn: boolean) => void,
): Promise<void> {
  const { SettingsList, TUI } = await import("@tau/tui");
  const ui = new TUI(terminal);
  await new Promise<void>((resolve) => {
    const items = rows.map(({ kind, name, from, isOn }, index) => ({
      id: String(index),
      label: `${kind}: ${name}`,
      description: from,
      currentValue: isOn ? "on" : "off",
      values: ["on", "off"],
    }));
    const plain = (text: string) => text;
    const theme = { label: plain, value: plain, description: plain, cursor: "→ ", hint: plain };
    const list = new SettingsList(
      items,
      maxVisible,
      theme,
      (id, value) => onTurn(rows[Number(id)]!, value === "on"),
      resolve,
    );
    ui.addChild(list);
    ui.setFocus(list);
    ui.start();
  });
  ui.stop();
  await terminal.drainInput();
}
