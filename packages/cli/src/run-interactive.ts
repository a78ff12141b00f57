/** Opens the interactive terminal over a host in this process. */
import { execFile } from "node:child_process";
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { Hosts } from "./hosts.ts";
import { createProgram } from "./program.ts";

export async function runInteractive(options: SessionOptions, io: Io): Promise<ExitCode> {
  const hosts = new Hosts(options, io);
  try {
    const client = await hosts.open();
    const ui = await import("./interactive/index.ts");
    const terminal = new ui.ProcessTerminal();
    const app = new ui.App({
      client,
      terminal,
      theme: ui.createTheme(
        ui.createSystemTheme({}),
        ui.decideColorMode(io.env, { hasTrueColor: ui.getCapabilities().trueColor }),
      ),
      keybindings: ui.createKeybindings(),
      program: createProgram(io, hosts),
      getBranch,
      copy: (text) => terminal.write(`\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`),
      now: () => performance.now(),
    });
    io.signal.addEventListener("abort", () => app.stop());
    const message = [...options.files.map((path) => `@${path}`), options.message].filter(Boolean).join(" ");
    const end = await app.run({ ...(message !== "" && { message }), ...(options.resume && { command: "resume" }) });
    const { session } = hosts.get(end.sessionId);
    if (session.sessionFile !== undefined && session.messages.length > 0) {
      io.err(`To continue this session: tau --session ${end.sessionId}\n`);
    }
    return io.signal.aborted ? exitCodes.interrupted : exitCodes.done;
  } finally {
    await hosts.dispose();
  }
}

/** Undefined outside of a repository. */
const getBranch = (cwd: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile("git", ["symbolic-ref", "--short", "HEAD"], { cwd, timeout: 1_000 }, (error, stdout) =>
      resolve(error ? undefined : stdout.trim()),
    );
  });
