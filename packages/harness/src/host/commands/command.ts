/** Defines a command: the fields that it takes, and what it does. */
import type { SessionWriter, SessionEnd } from "@tau/extensions/internal";
import type { Ids } from "@tau/ai";
import type { CommandData, CommandName, CommandParams } from "@tau/protocol";
import type { AgentSession, StartReason } from "../../agent-session/agent-session.ts";
import type { Fields, FieldValues } from "@tau/config/fields";
import type { SessionLookup } from "../../session/find-session.ts";
import type { SessionManager } from "../../session/session-manager.ts";
import type { HostedSession } from "../hosted-session.ts";

/** The host as commands see it. */
interface CommandHost {
  readonly agentDir: string;
  readonly ids: Ids;
  get(sessionId: string): HostedSession;
  /** Undefined if it is not open. */
  find(sessionId: string): HostedSession | undefined;
  findOpen(path: string): Promise<HostedSession | undefined>;
  openLike(sessionId: string, sessionManager: SessionManager, reason?: StartReason): Promise<string>;
  fork(sessionId: string, entryId: string): Promise<string>;
  close(sessionId: string, why?: SessionEnd): Promise<void>;
}

/** Options that a client adds to a command. */
export interface CommandOptions {
  /** Gets the output of `bash` as it comes. */
  onOutput?: (text: string) => void;
  /** Whether fields that a command does not have are refused. Default: ignored. */
  isClosed?: boolean;
  /** The scopes of the client; see `SubmitOptions.scopes`. */
  scopes?: readonly string[];
  /** Writes into the log of a new session before the session is opened. */
  setup?: (sessionManager: SessionWriter) => Promise<void>;
  /** Gets what the client says of itself. */
  onInitialize?: (client: { approvals: boolean; ui: boolean }) => void;
}

export interface CommandContext {
  host: CommandHost;
  hosted: HostedSession;
  session: AgentSession;
  options: CommandOptions;
}

/** Where the other sessions are. */
export const getLookup = ({ host, session }: CommandContext): SessionLookup => ({
  cwd: session.cwd,
  agentDir: host.agentDir,
  directory: session.sessionManager.getSessionDir(),
});

/** Commands without data answer with nothing. */
type Answer<Data> = null extends Data ? Data | void : Data;

interface CommandDefinition<Name extends CommandName = CommandName> {
  fields: Fields;
  /** It may take long: a surface does not wait for it before it takes the next command. */
  isLong: boolean;
  run(
    context: CommandContext,
    params: CommandParams<Name>,
  ): Answer<CommandData<Name>> | Promise<Answer<CommandData<Name>>>;
}

/** Has a definition for each command. */
export type CommandDefinitions = { readonly [Name in CommandName]: CommandDefinition<Name> };

/** The definitions of some commands; `index.ts` has all of them. */
export type SomeCommands = Partial<CommandDefinitions>;

/** A command that is done quickly: the next one waits for it. */
export const command = <F extends Fields, Data>(
  fields: F,
  run: (context: CommandContext, params: FieldValues<F>) => Data,
) => ({ fields, isLong: false, run });

export const longCommand: typeof command = (fields, run) => ({ ...command(fields, run), isLong: true });
