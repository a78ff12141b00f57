/** Parameters and answers of the methods about schedules. */

/** Has one of `at`, `every` and `cron`. */
export interface ScheduleParams {
  /** A date such as `2026-12-24T18:00`, in `timeZone` unless it says another, or how long from now, such as `20m`. */
  at?: string;
  /** A duration, such as `30m`, `2h` or `1d`. */
  every?: string;
  /** Five fields, or six of which the first is seconds. */
  cron?: string;
  /** Such as `Europe/Berlin`. Default: the setting `gateway.schedules.timeZone`, else that of the gateway's machine. */
  timeZone?: string;
  /** The task of the agent. */
  prompt: string;
  /** Default: the beginning of the prompt. */
  name?: string;
  /** Where its sessions work. Default: the first directory of the gateway. */
  cwd?: string;
  agent?: string;
  model?: string;
  /** A profile that makes the policy of its sessions stricter. */
  policy?: string;
  /** Only these tools, by name or pattern. */
  tools?: string[];
  /** An account of a channel: answers go to the conversation of it that was used last. */
  channel?: string;
  /** The maximum that each run may use. */
  maxTokens?: number;
  /** US dollars. */
  maxCost?: number;
}

export interface ScheduleData {
  id: string;
  name: string;
  /** When it is due, for people. */
  when: string;
  /** `over`: it is never due again. */
  state: "waiting" | "running" | "paused" | "over";
  /** ISO 8601. */
  nextAt?: string;
  prompt: string;
  cwd: string;
  agent?: string;
  model?: string;
  policy?: string;
  tools?: string[];
  maxTokens?: number;
  maxCost?: number;
  /** The account of a channel that answers are sent to, and the conversation in the platform's ids. */
  channel?: string;
  to?: string;
  /** The session whose agent added it. */
  sessionId?: string;
  /** How many runs have ended, and what they have used. */
  runs: number;
  tokens: number;
  /** US dollars. */
  cost: number;
}

export interface ScheduleRunData {
  id: string;
  scheduleId: string;
  /** The name of the schedule. */
  name: string;
  dueAt: string;
  /** `late`: it was missed, and is made up. `person`: somebody asked for it. */
  cause: "due" | "late" | "person";
  /** `cut`: the gateway ended during it, and it is not repeated. `missed`: it stands for runs that did not take place. */
  state: "running" | "done" | "failed" | "cut" | "missed";
  beganAt: string;
  endedAt?: string;
  sessionId?: string;
  /** How many due times had no run, and why. */
  missed?: number;
  missedText?: string;
  /** The beginning of the answer, or why it failed. */
  text?: string;
  tokens?: number;
  /** US dollars. */
  cost?: number;
}
