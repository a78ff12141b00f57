/**
 * Adds directories to the workspace of an open session, for a person: no tool and no extension can. They are open until the
 * session is closed. The log only tells the conversation of them: a log that was copied opens nothing.
 */
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { AgentMessage } from "@tau/agent";
import type { Clock } from "@tau/ai";
import { getErrorMessage, isRecord } from "@tau/ai/internal";
import { expandHome } from "@tau/config/internal";
import type { ResourceLoader } from "@tau/config/resources";
import { toCustomMessage } from "@tau/extensions/internal";
import type { WorkspaceRoots } from "@tau/policy/internal";
import { type AddedDirectoryData, HarnessError } from "@tau/protocol";
import type { SessionSandbox } from "@tau/sandbox";
import { lookAt, nodeFileSystem, unlessMissing } from "@tau/tools/platform";
import type { Transcript } from "../run/transcript.ts";
import { readOnlyError } from "../session/read-only.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { Activity } from "./activity.ts";
import type { Notices } from "./notices.ts";

/** The type of the messages that report a directory to the model. */
const messageType = "tau.directory_added";

interface AddedDirectoriesParts {
  cwd: string;
  roots: WorkspaceRoots;
  /** Undefined: commands run without one. */
  sandbox: Pick<SessionSandbox, "widen"> | undefined;
  /** Whether nobody may open anything outside of the working directory. */
  isTenant: boolean;
  isChild: boolean;
  /** Whether a person answers questions of this session now. */
  isAttended: () => boolean;
  /** Whether the user trusts what a directory says to the model. */
  isTrusted: (directory: string) => Promise<boolean>;
  readContextFile: ResourceLoader["readContextFile"];
  session: SessionManager;
  transcript: Transcript;
  activity: Pick<Activity, "isBusy" | "later">;
  notices: Notices;
  clock: Clock;
}

export class AddedDirectories {
  readonly #parts: AddedDirectoriesParts;

  constructor(parts: AddedDirectoriesParts) {
    this.#parts = parts;
  }

  /** See `AgentSession.addDirectory`. */
  async add(path: string): Promise<AddedDirectoryData> {
    const { roots, sandbox } = this.#parts;
    this.#mustBeAllowed();
    const directory = await this.#find(path);
    const decision = roots.decide(directory);
    if (decision.kind === "refused") throw new HarnessError("denied", decision.reason);
    if (decision.kind === "added") {
      // First, so that the sandbox opens it in the way of a grant, and nothing is added if it cannot.
      await sandbox?.widen({ hosts: [], paths: [directory], term: "session" });
      roots.add(directory);
      await this.#report(directory);
    }
    const instructions = await this.#findInstructions(directory);
    return { path: directory, directories: [...roots.added], ...(instructions && { instructions }) };
  }

  /** Describes the directories of a conversation that this session does not have, since it is opened again or a copy. */
  describeMissing(messages: readonly AgentMessage[]): string | undefined {
    const { added } = this.#parts.roots;
    const paths = new Set(findReported(messages).filter((path) => !added.includes(path)));
    if (paths.size === 0) return undefined;
    const commands = [...paths].map((path) => `/add-dir ${path}`).join(", ");
    return `Directories that were added to the workspace are not part of it any more. To add them again: ${commands}`;
  }

  #mustBeAllowed(): void {
    const { isTenant, isChild, isAttended, session } = this.#parts;
    if (session.readOnly) throw readOnlyError(session.getSessionFile() ?? session.id, session.readOnly);
    if (isTenant)
      throw new HarnessError("denied", 'A session with isolation "tenant" has no directories besides its own.');
    if (isChild)
      throw new HarnessError("denied", "This session was started by another one. Add the directory to that one.");
    if (!isAttended()) {
      const message =
        "Nobody answers the questions of this session, so directories are added only at its start: with --add-dir PATH.";
      throw new HarnessError("denied", message);
    }
  }

  /** Follows links once, now. */
  async #find(path: string): Promise<string> {
    const fs = nodeFileSystem;
    const absolute = resolve(this.#parts.cwd, expandHome(path, homedir()));
    const directory = await unlessMissing(fs.realpath(absolute)).catch((error: unknown) => {
      throw new HarnessError("invalid_input", `${absolute} cannot be added: ${getErrorMessage(error)}`);
    });
    if (directory === undefined) throw new HarnessError("invalid_input", `There is no directory ${absolute}.`);
    if (!(await lookAt(fs, directory))?.isDirectory())
      throw new HarnessError("invalid_input", `${absolute} is not a directory. Add the directory that it is in.`);
    return directory;
  }

  /** Not between a call and its result, where the model would not understand it. */
  async #report(directory: string): Promise<void> {
    const { session, transcript, activity, notices, clock } = this.#parts;
    const content = `The user has added ${JSON.stringify(directory)} to the workspace: tools may read and write there as in the working directory.`;
    const message = { customType: messageType, content, display: true, details: { path: directory } };
    const { isBusy } = activity;
    const written = activity
      .later(async () => {
        await session.append({ type: "custom_message", ...message });
        transcript.add(toCustomMessage(message, clock.now()));
      })
      .catch((error: unknown) => notices.add("not_remembered", getErrorMessage(error)));
    if (!isBusy) await written;
  }

  async #findInstructions(directory: string): Promise<AddedDirectoryData["instructions"]> {
    const { readContextFile, isTrusted } = this.#parts;
    const file = (await readContextFile?.(directory, { cwd: directory, isTrusted: async () => true }))?.value;
    return file && { path: file.path, trusted: await isTrusted(directory) };
  }
}

/** Logs are not checked when they are read. */
const findReported = (messages: readonly AgentMessage[]): string[] =>
  messages.flatMap((message) => {
    if (message.role !== "custom" || message.customType !== messageType || !isRecord(message.details)) return [];
    const { path } = message.details;
    return typeof path === "string" ? [path] : [];
  });
