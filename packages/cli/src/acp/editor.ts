/** The file system and the terminals of the editor, for one session. */
import type { HostOptions } from "@tau/harness/host";
import type { Connection } from "../json-rpc/connection.ts";
import { createEditorFiles } from "./editor-files.ts";
import { createEditorTerminal } from "./editor-terminal.ts";
import type { ClientCapabilities } from "./schema.generated.ts";

/** The session, as soon as there is one: tools run later. */
interface BoundSession {
  readonly id: string;
  readonly hasJobs: boolean;
  showTerminal(toolCallId: string, terminalId: string): void;
}

interface EditorParts {
  connection: Connection;
  client: ClientCapabilities;
  /** The directories of the session, by their real paths. */
  roots: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  report: (message: string) => void;
}

interface Editor {
  /** The parameters of the session; none where the editor offers nothing. */
  params: Pick<HostOptions["params"], "wrapFiles" | "commandTerminal">;
  bind(session: BoundSession): void;
}

export function createEditor({ connection, client, roots, env, report }: EditorParts): Editor {
  let session: BoundSession | undefined;
  const getSessionId = () => session?.id ?? "";
  const files = client.fs;
  return {
    params: {
      ...(files?.readTextFile === true && {
        wrapFiles: createEditorFiles({
          connection,
          client: files,
          getSessionId,
          roots,
          hasBackgroundWork: () => session?.hasJobs ?? true,
          report,
        }),
      }),
      ...(client.terminal === true && {
        commandTerminal: createEditorTerminal({
          connection,
          getSessionId,
          env,
          onStarted: (toolCallId, terminalId) => session?.showTerminal(toolCallId, terminalId),
          report,
        }),
      }),
    },
    bind: (bound) => void (session = bound),
  };
}
