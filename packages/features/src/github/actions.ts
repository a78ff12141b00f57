/** The actions of the tool, by what they are about. */
import type { Clock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import type { GitHubApi, Json } from "./api.ts";
import { GitHubFailure } from "./failure.ts";
import type { GitHubArguments } from "./feature.ts";
import * as format from "./format.ts";

export interface ActionContext {
  readonly api: GitHubApi;
  readonly repository: string;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Asks the person about what would be posted. Throws a `GitHubFailure` if they say no. */
  confirm(post: { summary: string; path: string; body: Json }): Promise<void>;
  /** Shows progress. */
  update(text: string): void;
  /** Checks a pull request out. Resolves with what was done. */
  checkout(number: number): Promise<string>;
}

type Action = (args: GitHubArguments, context: ActionContext) => Promise<string>;
type Actions = Partial<Record<GitHubArguments["action"], Action>>;

const defaultLimit = 30;
const maxLimit = 300;
const maxComments = 100;
const defaultWatchMs = 600_000;
const maxWatchMs = 3_600_000;
const pollMs = 5_000;

/** The form of answers in which results of searches have the text that was found. */
const withMatches = "application/vnd.github.text-match+json";

const needs = <T>(value: T | undefined, name: string): T => {
  if (value !== undefined && value !== "") return value;
  throw new GitHubFailure("arguments", `It needs ${name}.`);
};

const getLimit = ({ limit = defaultLimit }: GitHubArguments): number => Math.min(Math.max(1, limit), maxLimit);
const toQuery = (fields: Readonly<Record<string, string | undefined>>): string => {
  const set = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  return set.length === 0 ? "" : `?${new URLSearchParams(set).toString()}`;
};

/** Shows lines, and says whether there are more. */
const showList = (
  { items, hasMore }: { items: readonly Json[]; hasMore: boolean },
  line: (item: Json) => string,
): string =>
  [
    ...(items.length === 0 ? ["There is nothing."] : items.map(line)),
    ...(hasMore ? ["[There are more: raise limit.]"] : []),
  ].join("\n");

/** Posts after a question that has all of it. */
async function post(context: ActionContext, path: string, body: Json, summary: string): Promise<Json> {
  await context.confirm({ summary, path, body });
  return await context.api.post(path, body, context.signal);
}

const describePosted = (posted: Json): string => `Posted: ${format.toText(posted["html_url"])}`;

/** Leaves out what is not given. */
const given = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

async function listThreads(kind: "issue" | "pr", args: GitHubArguments, { api, repository, signal }: ActionContext) {
  const { state = "open", query, labels } = args;
  const limit = getLimit(args);
  if (query !== undefined) {
    const q = [query, `repo:${repository}`, `is:${kind}`, ...(state === "all" ? [] : [`is:${state}`])].join(" ");
    return await api.list(`/search/issues${toQuery({ q })}`, { limit, key: "items", signal });
  }
  const isIssue = (item: Json) => item["pull_request"] === undefined;
  const path = `/repos/${repository}/${kind === "issue" ? "issues" : "pulls"}${toQuery({ state, labels: labels?.join(",") })}`;
  return await api.list(path, { limit, signal, ...(kind === "issue" && { isWanted: isIssue }) });
}

/** Reads an issue or a pull request with its comments. */
export async function viewThread(
  kind: "issue" | "pr",
  number: number,
  { api, repository, signal }: Pick<ActionContext, "api" | "repository" | "signal">,
): Promise<string> {
  const base = `/repos/${repository}`;
  const options = { limit: maxComments, signal };
  const item = await api.get(`${base}/${kind === "issue" ? "issues" : "pulls"}/${number}`, signal);
  const comments = await api.list(`${base}/issues/${number}/comments`, options);
  if (kind === "issue")
    return format.formatThread({ repository, item, comments: comments.items, isPart: comments.hasMore });
  const reviews = await api.list(`${base}/pulls/${number}/reviews`, options);
  const files = await api.list(`${base}/pulls/${number}/files`, options);
  const isPart = comments.hasMore || reviews.hasMore;
  return format.formatThread({
    repository,
    item,
    comments: comments.items,
    reviews: reviews.items,
    files: files.items,
    isPart,
  });
}

const comment: Action = async (args, context) => {
  const number = needs(args.number, "number");
  const body = needs(args.body, "body");
  const path = `/repos/${context.repository}/issues/${number}/comments`;
  return describePosted(await post(context, path, { body }, `Comment on ${context.repository}#${number}`));
};

async function viewRun(id: number, { api, repository, signal }: ActionContext): Promise<{ run: Json; text: string }> {
  const path = `/repos/${repository}/actions/runs/${id}`;
  const run = await api.get(path, signal);
  const jobs = await api.list(`${path}/jobs`, { limit: maxComments, key: "jobs", signal });
  return { run, text: format.formatRun(run, jobs.items) };
}

const watch: Action = async (args, context) => {
  const id = needs(args.number, "number, the id of the run");
  const endMs = context.clock.monotonic() + Math.min(args.timeoutMs ?? defaultWatchMs, maxWatchMs);
  for (;;) {
    const { run, text } = await viewRun(id, context);
    if (run["status"] === "completed") return text;
    if (context.clock.monotonic() >= endMs) return `${text}\n\n[The run has not ended yet.]`;
    context.update(format.formatRunLine(run));
    await sleep(context.clock, pollMs, context.signal);
    context.signal?.throwIfAborted();
  }
};

const events = { approve: "APPROVE", request_changes: "REQUEST_CHANGES", comment: "COMMENT" } as const;

/** All that the tool can do. Other pairs of a kind and an action are refused. */
export const actions: Record<GitHubArguments["kind"], Actions> = {
  issue: {
    list: async (args, context) => showList(await listThreads("issue", args, context), format.formatThreadLine),
    view: (args, context) => viewThread("issue", needs(args.number, "number"), context),
    create: async (args, context) => {
      const { body, labels } = args;
      const fields = given({ title: needs(args.title, "title"), body, labels });
      return describePosted(
        await post(context, `/repos/${context.repository}/issues`, fields, `Create an issue in ${context.repository}`),
      );
    },
    comment,
  },
  pr: {
    list: async (args, context) => showList(await listThreads("pr", args, context), format.formatThreadLine),
    view: (args, context) => viewThread("pr", needs(args.number, "number"), context),
    create: async (args, context) => {
      const { body, draft } = args;
      const [title, head, base] = [needs(args.title, "title"), needs(args.head, "head"), needs(args.base, "base")];
      const summary = `Create a pull request in ${context.repository}`;
      const fields = given({ title, head, base, body, draft });
      return describePosted(await post(context, `/repos/${context.repository}/pulls`, fields, summary));
    },
    comment,
    review: async (args, context) => {
      const number = needs(args.number, "number");
      const { verdict = "comment" } = args;
      const body = verdict === "approve" ? args.body : needs(args.body, "body");
      const path = `/repos/${context.repository}/pulls/${number}/reviews`;
      const fields = given({ event: events[verdict], body });
      return describePosted(await post(context, path, fields, `Review ${context.repository}#${number}: ${verdict}`));
    },
    checkout: async (args, context) => await context.checkout(needs(args.number, "number")),
  },
  review: {
    list: async (args, { api, repository, signal }) => {
      const path = `/repos/${repository}/pulls/${needs(args.number, "number")}`;
      const limit = getLimit(args);
      const reviews = await api.list(`${path}/reviews`, { limit, signal });
      const comments = await api.list(`${path}/comments`, { limit, signal });
      const parts = [...reviews.items.map(format.formatReview), ...comments.items.map(format.formatReviewComment)];
      const more = reviews.hasMore || comments.hasMore ? ["[There are more: raise limit.]"] : [];
      return parts.length === 0 ? "There are no reviews." : [...parts, ...more].join("\n\n");
    },
  },
  run: {
    list: async (args, { api, repository, signal }) => {
      const path = `/repos/${repository}/actions/runs${toQuery({ branch: args.branch })}`;
      return showList(
        await api.list(path, { limit: getLimit(args), key: "workflow_runs", signal }),
        format.formatRunLine,
      );
    },
    view: async (args, context) => (await viewRun(needs(args.number, "number, the id of the run"), context)).text,
    watch,
  },
  release: {
    list: async (args, { api, repository, signal }) =>
      showList(
        await api.list(`/repos/${repository}/releases`, { limit: getLimit(args), signal }),
        format.formatReleaseLine,
      ),
    view: async ({ tag }, { api, repository, signal }) =>
      format.formatRelease(
        await api.get(
          `/repos/${repository}/releases/${tag === undefined ? "latest" : `tags/${encodeURIComponent(tag)}`}`,
          signal,
        ),
      ),
    create: async (args, context) => {
      const { title: name, body, draft, base } = args;
      const fields = given({ tag_name: needs(args.tag, "tag"), name, body, draft, target_commitish: base });
      const summary = `Create a release of ${context.repository}`;
      return describePosted(await post(context, `/repos/${context.repository}/releases`, fields, summary));
    },
  },
  code: {
    list: async (args, { api, repository, signal }) => {
      const query = needs(args.query, "query");
      const q = /\b(?:repo|org|user):/.test(query) ? query : `${query} repo:${repository}`;
      return showList(
        await api.list(`/search/code${toQuery({ q })}`, {
          limit: getLimit(args),
          key: "items",
          accept: withMatches,
          signal,
        }),
        format.formatCodeLine,
      );
    },
  },
};
