/** Takes prompts into a session: each is offered to extensions, expanded, and then begins a run or is queued. */
import type { ImageContent, OutputSchema, ToolChoice } from "@tau/ai";
import { followSignal } from "@tau/ai/internal";
import type { Files } from "@tau/tools";
import { HarnessError } from "@tau/protocol";
import type { ExtensionEvent, InputSource, SessionExtensions } from "@tau/extensions";
import type { SessionFeatures } from "@tau/extensions/internal";
import type { Mentioned } from "../prompt/expand.ts";
import type { ResourcePort } from "../prompt/expand-port.ts";
import { RunAborted, toRunAborted } from "../run/run-aborted.ts";
import type { Activity, Content, PromptOutcome, StartedPrompt, Submission } from "./activity.ts";
import { AnswerForm } from "./answer-form.ts";
import { getContent, type PromptContent, refuseLargeImages } from "./content.ts";
import { decideSubmission, type SubmissionStep } from "./decide-submission.ts";
import type { Inbox } from "../run/inbox.ts";
import type { ExtensionMentions } from "./extension-mentions.ts";
import type { FileAuthority, NamedAccess, NamedFiles } from "./named-files.ts";
import type { Notices } from "./notices.ts";
import type { RunRole } from "./run-role.ts";
import type { RunScopes } from "./run-scopes.ts";

export interface PromptOptions extends PromptContent {
  /** Where to queue the prompt while a run is in progress; without it, the prompt is refused then. */
  streamingBehavior?: "steer" | "followUp";
  /**
   * The form of the answer. The provider enforces it where it can, and an answer that does not fit is sent back at most twice. The
   * outcome has the value as `output`. Such a prompt has a run of its own: follow-ups wait for its end, and while a run is in
   * progress it is refused with `busy`. So is, with `invalid_input`, a JSON Schema that is not valid.
   */
  output?: OutputSchema;
  /** Whether the first request of the run may, must or must not call tools, or which one it must call. Default: that of the session. */
  toolChoice?: ToolChoice;
  /** Aborts the run that the prompt begins. A prompt whose signal is aborted already is refused with `aborted`. */
  signal?: AbortSignal;
}

export interface SteerOptions {
  images?: ImageContent[];
  /** Abort the current turn first. */
  interrupt?: boolean;
}

export interface SubmitOptions extends PromptContent {
  /** Where the message is queued while a run is in progress; without it, it is refused then. */
  queue?: "steer" | "followUp";
  /** Abort the current turn, so that a steering message is sent at once. */
  interrupt?: boolean;
  /** Where the text comes from, for extensions. Default `rpc`. */
  source?: InputSource;
  /** The id of the message in the log, its `queueId`. It must be new. Default: only a message that is queued has one. */
  messageId?: string;
  /**
   * Scopes that tools with a `requiredScope` need in the run that the prompt begins. A prompt that joins a run can only
   * take scopes from it. Default: scopes are not checked.
   */
  scopes?: readonly string[];
  /** See `PromptOptions`. */
  output?: OutputSchema;
  /** See `PromptOptions`. A prompt that joins a run cannot have any. */
  toolChoice?: ToolChoice;
  /** Aborts the run that the prompt begins, also before it is in the log. */
  signal?: AbortSignal;
  /** Whose rights apply to the files that the prompt mentions. It can only be stricter than that of the session. */
  fileAuthority?: FileAuthority;
  /**
   * Names the author, if that is not the user of this surface. Nothing in the text is expanded or executed, and the session has read text
   * of somebody else from then on. `formatSentMessage` adds the name to the text.
   */
  sender?: string;
}

export interface PromptsParts {
  getExtensions: () => SessionExtensions | undefined;
  features: Pick<SessionFeatures, "isCommand" | "loadForCommand" | "isForPrompt" | "loadForPrompt">;
  expandPort: ResourcePort;
  namedFiles: NamedFiles;
  mentions: ExtensionMentions;
  /** Reads what a prompt mentions. */
  createMentionReader: (files: Files) => (path: string) => Promise<Mentioned>;
  activity: Activity;
  inbox: Inbox;
  notices: Notices;
  scopes: RunScopes;
  /** Changes the role for a run. */
  runRole: Pick<RunRole, "takePrompt">;
  /** Called before text of somebody else is in the log. */
  addTaint: (sender: string) => Promise<void>;
  /** Throws when the session cannot run. */
  mustBeUsable: () => void;
  /** Ends the run that is in progress or about to begin, and the runs of children. */
  abort: (reason: RunAborted) => void;
}

type InputOrigin = Pick<ExtensionEvent<"input">, "source" | "streamingBehavior">;

interface OfferedPrompt {
  text: string;
  content: PromptContent;
  /** See `SubmissionFacts`. */
  cameFirst: boolean;
}

export class Prompts {
  readonly #parts: PromptsParts;
  /** A prompt of the user is with the extensions. */
  #isOffering = false;

  constructor(parts: PromptsParts) {
    this.#parts = parts;
  }

  /** Resolves as soon as the message is in the log. */
  async submit(text: string, options: SubmitOptions): Promise<Submission> {
    const { activity, mustBeUsable } = this.#parts;
    const {
      queue,
      interrupt = false,
      source = "rpc",
      messageId,
      scopes,
      output,
      toolChoice,
      signal,
      fileAuthority,
      sender,
      ...typedContent
    } = options;
    const form = output && new AnswerForm(output);
    const original = {
      ...typedContent,
      ...(form && { appended: form.request }),
      ...(sender !== undefined && { expandPromptTemplates: false }),
    };
    refuseLargeImages(original.images);
    if (sender !== undefined) await this.#parts.addTaint(sender);
    const { features } = this.#parts;
    if (sender === undefined && features.isCommand(text)) await features.loadForCommand(text);
    else if (features.isForPrompt(text)) await features.loadForPrompt(text);
    const extensions = this.#parts.getExtensions();
    const origin = { source, ...(queue && { streamingBehavior: queue }) };
    // At once without extensions: the session is busy as soon as this was called.
    const offered = extensions
      ? await this.#offer(extensions, text, original, origin)
      : { text, content: original, cameFirst: false };
    if (!offered) return { disposition: "handled" };
    const { text: typed, content, cameFirst } = offered;
    const decide = () =>
      decideSubmission({ isBusy: activity.isBusy, hasForm: form !== undefined, queue, source, cameFirst, interrupt });
    let step = decide();
    for (; step.kind === "wait"; step = decide()) await activity.whenIdle();
    mustBeUsable();
    refuseAborted(signal);
    if (step.kind === "refuse") {
      const advice = form
        ? "A prompt with `output` has a run of its own. Wait for the other one, or abort it."
        : "Wait for it, abort it, or pass `streamingBehavior` to steer it or to follow up.";
      throw new HarnessError("busy", `A run is already in progress. ${advice}`);
    }
    this.#parts.scopes.take(scopes, activity.isBusy);
    const notices: string[] = [];
    const expand = async (signal: AbortSignal) => {
      const expanded = await this.#expand(typed, content, { authority: fileAuthority, signal });
      notices.push(...expanded.notices);
      await this.#parts.runRole.takePrompt(typed, { files: content.files ?? [], asked: expanded.role });
      return expanded.content;
    };
    const submission = await (step.kind === "start"
      ? this.#start({ getContent: expand, messageId, choices: { toolChoice, output: form?.format }, form }, signal)
      : this.#queue(step, expand, messageId));
    return notices.length > 0 ? { ...submission, notices } : submission;
  }

  async #start(prompt: StartedPrompt, signal: AbortSignal | undefined): Promise<Submission> {
    const { activity, abort } = this.#parts;
    // The session is busy as soon as this was called: what is aborted from now on is this run.
    const starting = activity.start(prompt);
    const stop = followSignal(signal, (reason) => abort(toRunAborted(reason, "signal")));
    try {
      const submission = await starting;
      if (submission.disposition === "started") submission.outcome.then(stop, stop);
      return submission;
    } catch (error) {
      stop();
      throw error;
    }
  }

  async #queue(
    { queue, interrupts }: SubmissionStep & { kind: "queue" },
    expand: (signal: AbortSignal) => Promise<Content>,
    messageId: string | undefined,
  ): Promise<Submission> {
    const { activity, inbox } = this.#parts;
    const id = await activity.queue(expand, queue, messageId);
    // It is queued first: otherwise only the abort would happen.
    if (interrupts && inbox.has(id)) {
      const end = { kind: "aborted", by: "person", reason: "steered" } as const;
      activity.abort(new RunAborted(end, "Interrupted by a steering message.", { isSteered: true }));
    }
    return { disposition: "queued", id };
  }

  /** See `AgentSession.runQueued`. */
  runQueued(scopes: readonly string[] | undefined): void {
    const { activity, mustBeUsable } = this.#parts;
    mustBeUsable();
    if (scopes) this.#parts.scopes.take(scopes, activity.isBusy);
    activity.runQueued();
  }

  /** Changes the text of a queued message; answers with its new id. */
  async editQueued(id: string, text: string): Promise<string> {
    return await this.#parts.inbox.edit(id, (await this.#expand(text, {}, {})).content);
  }

  /** A command of an extension is looked for first, then handlers may change the text. Undefined: it was dealt with. */
  async #offer(
    extensions: SessionExtensions,
    text: string,
    content: PromptContent,
    origin: InputOrigin,
  ): Promise<OfferedPrompt | undefined> {
    const isOfUser = origin.source !== "extension";
    const cameFirst = !this.#parts.activity.isBusy && !(isOfUser && this.#isOffering);
    if (isOfUser) this.#isOffering = true;
    try {
      await extensions.start();
      const expands = content.expandPromptTemplates !== false;
      if (expands && (await extensions.runCommand(text))) return undefined;
      const changed = await extensions.transformInput(text, content.images, origin);
      if (!changed) return undefined;
      const { images } = changed;
      return { text: changed.text, content: { ...content, ...(images && { images }) }, cameFirst };
    } finally {
      if (isOfUser) this.#isOffering = false;
    }
  }

  async #expand(text: string, options: PromptContent, reading: Reading) {
    const { expandPort: port, notices: sessionNotices } = this.#parts;
    const { content, notices, role } = await getContent(text, options, {
      templates: port.templates,
      skills: port.skills,
      readSkill: (skill) => port.readSkill(skill),
      readMention: (path, isLast) => this.#readMention(path, isLast, reading),
    });
    for (const notice of notices) sessionNotices.add("prompt", notice);
    return { content, notices, role };
  }

  async #readMention(path: string, isLast: boolean, reading: Reading): Promise<Mentioned> {
    const { namedFiles, createMentionReader } = this.#parts;
    // Nobody is asked about one of several spellings, which most likely does not exist.
    if (!isLast && !(await namedFiles.mayRead(path))) return { kind: "missing" };
    const read = await namedFiles.use({ capability: "read", path, by: "read", ...reading }, (files) =>
      createMentionReader(files)(path),
    );
    if (read.kind === "denied") return { kind: "failed", reason: read.reason };
    const isMissing = read.value.kind === "missing" && isLast;
    return isMissing ? await this.#parts.mentions.read(path, reading) : read.value;
  }
}

/** Throws `aborted` for a prompt that nobody wants any more. */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new HarnessError("aborted", "The prompt was not sent, because its signal was aborted.");
}

/** Resolves when the run that the message began is over. */
export async function toPromptOutcome(submission: Submission): Promise<PromptOutcome> {
  switch (submission.disposition) {
    case "queued":
      return { kind: "queued", id: submission.id };
    case "handled":
      return { kind: "handled" };
    case "started":
      return { kind: "ran", ...(await submission.outcome) };
  }
}

/** How the files of one prompt are read. */
type Reading = Pick<NamedAccess, "authority" | "signal">;
