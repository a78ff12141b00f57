/**
 * Questions that outlive the run in which they were asked, with the answers to them. They are kept outside the log of the session, so
 * that a copy of the log has neither.
 */
import { type Clock, systemClock, systemIds } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import type { Approval } from "@tau/protocol";
import type { Storage } from "@tau/tools/storage";
import type { Answer } from "./policy.ts";
import { describeRecordFile } from "./record-file.ts";

export interface KeptQuestion {
  /** The question as a person is shown it. From `expiresAt` on, neither the question nor an answer to it counts. */
  approval: Approval & { expiresAt: number };
  sessionId: string;
  /** Names the log of the session: a copy of it has another name. */
  log: string;
  /** See `bindQuestion`. */
  binding: string;
  /** Undefined while nobody has answered. */
  answer?: Answer;
  /** The run is resumed with the answer by itself, also by a process that finds the two after a crash. */
  resumes?: true;
}

/** Where they are kept. */
export interface AnswerStore {
  /** Returns the questions of a session. */
  read(sessionId: string): Promise<readonly KeptQuestion[]>;
  /**
   * Replaces the questions of a session by what `work` makes of them. Nobody else changes them meanwhile, in no process. What was
   * changed outlives a crash when it resolves.
   */
  change(sessionId: string, work: (questions: readonly KeptQuestion[]) => readonly KeptQuestion[]): Promise<void>;
}

/** An `AnswerStore` of several sessions. */
export interface AnswerRecords extends AnswerStore {
  /** Lists the sessions with an answer that resumes their run; see `KeptQuestion.resumes`. */
  listResuming(): Promise<readonly string[]>;
}

interface AnswerFileOptions {
  /** Tools must not be able to write there. */
  directory: string;
  clock?: Clock;
}

interface StoredAnswersOptions {
  storage: Storage;
  clock?: Clock;
}

/** Keeps them in the file `answers.json` of a directory. Removes those that have expired. */
export const createAnswerFile = ({ directory, clock = systemClock }: AnswerFileOptions): AnswerRecords =>
  createAnswerStore({ agentDir: directory }, clock);

/** Keeps them in the record `answers` of a storage, for each process that has it. Removes those that have expired. */
export const createStoredAnswers = ({ storage, clock = systemClock }: StoredAnswersOptions): AnswerRecords =>
  createAnswerStore({ agentDir: "", storage }, clock);

function createAnswerStore(place: { agentDir: string; storage?: Storage }, clock: Clock): AnswerRecords {
  const options = { ...place, ids: systemIds };
  const isLeft = ({ approval }: KeptQuestion) => approval.expiresAt > clock.now();
  return {
    read: async (sessionId) => (await file.read(options)).filter((kept) => kept.sessionId === sessionId),
    async listResuming() {
      const all = await file.read(options);
      return [...new Set(all.filter((kept) => kept.resumes && isLeft(kept)).map(({ sessionId }) => sessionId))];
    },
    change: (sessionId, work) =>
      file.change(options, (all) => {
        const isOwn = (kept: KeptQuestion) => kept.sessionId === sessionId;
        return [...all.filter((kept) => !isOwn(kept) && isLeft(kept)), ...work(all.filter(isOwn)).filter(isLeft)];
      }),
  };
}

/** Keeps them in memory, for tests and for programs that ask and answer in one process. */
export function createAnswerMemory(): AnswerStore {
  const bySession = new Map<string, readonly KeptQuestion[]>();
  const read = (sessionId: string) => bySession.get(sessionId) ?? [];
  return {
    read: async (sessionId) => structuredClone(read(sessionId)),
    change: async (sessionId, work) => void bySession.set(sessionId, structuredClone(work(read(sessionId)))),
  };
}

const file = describeRecordFile("answers.json", "questions", (questions): KeptQuestion[] =>
  Array.isArray(questions) ? questions.filter(isKept) : [],
);

function isKept(value: unknown): value is KeptQuestion {
  if (!isRecord(value) || !isRecord(value["approval"])) return false;
  const { sessionId, log, binding, answer } = value;
  const { id, toolCallId, toolName, summary, reason, choices, expiresAt } = value["approval"];
  const texts = [sessionId, log, binding, id, toolCallId, toolName, summary, reason];
  if (!texts.every((text) => typeof text === "string") || typeof expiresAt !== "number") return false;
  return Array.isArray(choices) && (answer === undefined || isRecord(answer));
}
