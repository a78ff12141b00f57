/** The commands that the user's own settings name for the terminal: the status line, and notifications. */
import { systemClock } from "@tau/ai";
import type { StateData } from "@tau/protocol";
import type { NotificationType } from "./attention.ts";
import { OwnStatusLine } from "./own-status-line.ts";
import type { TerminalSettings } from "./settings.ts";
import { type RunUserCommand, UserCommand } from "./user-command.ts";

/** How often the status line is asked for at most. */
const minStatusMs = 300;
/** How often the user is notified at most. */
const minNotifyMs = 1_000;

interface UserCommandsOptions {
  getSettings: () => TerminalSettings;
  say: (text: string) => void;
  requestRender: () => void;
}

export interface UserCommands {
  readonly statusLine: OwnStatusLine;
  /** `state` is undefined until it is known. */
  readonly notify: (type: NotificationType, message: string, state: StateData | undefined) => void;
  close(): void;
}

/** Nothing is loaded or started until a setting names a command. */
export function createUserCommands({ getSettings, say, requestRender }: UserCommandsOptions): UserCommands {
  const run: RunUserCommand = async (...call) => {
    const { createRunUserCommand } = await import("./run-user-command.ts");
    return await createRunUserCommand()(...call);
  };
  let hasFailed = false;
  const status = new UserCommand({
    run,
    clock: systemClock,
    minIntervalMs: minStatusMs,
    onOutput(output) {
      statusLine.take(output);
      if (output === undefined && !hasFailed) say("The command of the setting statusLine failed or took too long.");
      hasFailed = output === undefined;
      requestRender();
    },
  });
  const statusLine = new OwnStatusLine({ getSetting: () => getSettings().statusLine, command: status });
  const notification = new UserCommand({ run, clock: systemClock, minIntervalMs: minNotifyMs });
  return {
    statusLine,
    notify(type, message, state) {
      const { notify: command } = getSettings();
      if (command === undefined) return;
      const { sessionId = "", sessionFile = "", cwd = "" } = state ?? {};
      const session = { session_id: sessionId, transcript_path: sessionFile, cwd };
      const input = { ...session, hook_event_name: "Notification", notification_type: type, title: "tau", message };
      notification.request({ command, cwd: state?.cwd ?? process.cwd(), input });
    },
    close() {
      status.close();
      notification.close();
    },
  };
}
