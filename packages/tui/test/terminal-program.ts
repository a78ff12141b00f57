/** Runs in a terminal of its own and tells on the screen what it gets. */
import { appendFileSync } from "node:fs";
import { isKittyProtocolActive } from "../src/keys/match.ts";
import { ProcessTerminal } from "../src/terminal/process-terminal.ts";

const terminal = new ProcessTerminal();
const say = (text: string): void => void process.stdout.write(`\n<${text}>\n`);
const show = (data: string) => JSON.stringify(data).replaceAll("\\u001b", "ESC");

/** Where nobody looks at the screen any more. */
const report = (text: string): void => appendFileSync(process.env["REPORT"] ?? "/dev/null", `${text}\n`);

process.on("SIGHUP", () => {});
process.on("uncaughtExceptionMonitor", (error) => report(String(error)));
process.on("exit", (code) => report(`exit ${code}`));

terminal.onDisconnect = () => {
  report("disconnected");
  terminal.write("never written");
  terminal.stop();
  process.exitCode = 7;
};

/** Letters are commands, so that a test can wait for what they say. */
const commands: Record<string, () => void | Promise<void>> = {
  k: () =>
    say(`kitty ${terminal.kittyProtocolActive} ${isKittyProtocolActive()} other ${terminal.modifyOtherKeysActive}`),
  q: () => {
    terminal.stop();
    say(`stopped raw ${process.stdin.isRaw} kitty ${isKittyProtocolActive()}`);
    terminal.stop();
    say("bye");
  },
  d: async () => {
    await terminal.drainInput(60_000, 1);
    say("drained");
    terminal.stop();
    say("bye");
  },
  x: () => process.exit(3),
  e: () => void process.stdin.destroy(Object.assign(new Error("read EIO"), { code: "EIO" })),
  c: () => {
    throw new Error("crash");
  },
  p: () => {
    terminal.setProgress(true);
    terminal.setTitle("a\x07b\x1b[31mc");
    say("progress");
  },
  r: () => {
    terminal.stop();
    start();
  },
};

function start(): void {
  terminal.start(
    (data) => {
      say(`input ${show(data)}`);
      void commands[data]?.();
    },
    () => say(`size ${terminal.columns}x${terminal.rows}`),
  );
  say(`ready raw ${process.stdin.isRaw} ${terminal.columns}x${terminal.rows}`);
}

start();
