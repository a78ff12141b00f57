/** Opens and closes a session: in which order its parts begin and end. */
import type { SessionEnd } from "@tau/extensions/internal";
import type { SessionExtensions } from "@tau/extensions";
import type { Termination } from "@tau/protocol";
import { RunAborted } from "../run/run-aborted.ts";
import { describeProblems } from "../session/describe-problems.ts";
import { settleAfterCrash } from "./after-crash.ts";
import { readLog, type SessionCore } from "./session-core.ts";
import type { SessionParts } from "./session-parts.ts";
import { followChanges, type SessionWork } from "./session-work.ts";
import { describeLeftOut } from "./tools-and-prompt.ts";

interface LifetimeParts {
  parts: SessionParts;
  core: SessionCore;
  work: SessionWork;
  /** Gives extensions the session. */
  bind: (extensions: SessionExtensions) => Promise<void>;
  /** Called when the list of models has changed. */
  onModels: () => void;
}

export class SessionLifetime {
  readonly #own: LifetimeParts;
  readonly #cleanUps: (() => void)[];
  #closed: Promise<void> | undefined;
  #cutRun: Termination | undefined;

  constructor(own: LifetimeParts) {
    this.#own = own;
    this.#cleanUps = followChanges(own.parts, own.core, own.work);
  }

  /** See `AgentSession.cutRun`. */
  get cutRun(): Termination | undefined {
    return this.#cutRun;
  }

  async open(): Promise<void> {
    const { parts, core, work, bind, onModels } = this.#own;
    const { sessionManager: session, services, problems, sessions, afterCrash } = parts;
    const { inbox, notices, jobs, permissionModes, sent, transcript, questions } = core;
    for (const { code, message } of problems) notices.add(code, message);
    session.onProblems((fresh) => {
      const damage = fresh.filter(({ kind }) => kind !== "newer_version");
      if (damage.length > 0) notices.add("session", describeProblems(damage, session.getSessionFile() ?? ""));
    });
    if (!session.readOnly) {
      // A session that another process writes has its children there.
      sessions.add(work.live);
      this.#cutRun = await settleAfterCrash({ session, inbox, notices, questions, afterCrash });
    } else {
      await questions.findWaiting(await session.unfinishedCalls());
    }
    await readLog(core, session);
    jobs.resume(transcript.messages);
    const { notResumed } = parts.permissions;
    if (notResumed !== undefined) notices.add("permissions", notResumed);
    const missing = work.directories.describeMissing(transcript.messages);
    if (missing !== undefined) notices.add("directories", missing);
    sent.restore(await session.getPrefix());
    await parts.extensions.bind(bind);
    await parts.features.loadAtStart(transcript.messages);
    await work.tools.findListed();
    this.#cleanUps.push(services.settings.subscribe(work.changes.onSettings));
    this.#cleanUps.push(services.settings.subscribe(() => void permissionModes.publishChange()));
    this.#cleanUps.push(services.registry.subscribe(onModels));
    for (const { code, message } of describeLeftOut(work.tools.shown)) notices.add(code, message);
    await work.tools.loadTools();
  }

  /** Calls `listener` when the session has ended. */
  onClosed(listener: () => void): void {
    this.#cleanUps.push(listener);
  }

  /** See `AgentSession.dispose`. */
  close(why: SessionEnd): Promise<void> {
    this.#closed ??= this.#close(why);
    return this.#closed;
  }

  async #close(why: SessionEnd): Promise<void> {
    const { parts, core, work } = this.#own;
    const { sessionManager: session } = parts;
    const closed = new RunAborted({ kind: "aborted", by: "person", reason: "closed" }, "The session was closed.");
    core.lifetime.abort(closed);
    work.bash.abort();
    work.activity.abort(closed);
    await work.activity.whenIdle();
    const { inbox, jobs, lifecycles } = core;
    // Each step happens, also when another fails: a full disk must not leave processes behind.
    const steps = [
      async () => {
        if (!session.readOnly && !parts.afterCrash) await inbox.refuse("the session was closed");
      },
      async () => {
        if (!session.readOnly) await jobs.write(session);
      },
      () => parts.extensions.close(why, "The session was closed."),
      () => lifecycles.unloadOthers([]),
      async () => this.#cleanUps.forEach((cleanUp) => cleanUp()),
      async () => parts.sessions.remove(work.live),
      () => parts.close(),
    ];
    const failures: unknown[] = [];
    for (const step of steps) await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }
}
