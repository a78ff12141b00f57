/** Turns answers of GitHub into text for the model. Pure. */
import { asRecord, isRecord } from "@tau/ai/internal";
import type { Json } from "./api.ts";

export const toText = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : "";

const getLogin = (item: Json, key = "user"): string => toText(asRecord(item[key])["login"]);
const getNames = (list: unknown, key: string): string =>
  Array.isArray(list)
    ? list
        .map((each) => toText(asRecord(each)[key]))
        .filter(Boolean)
        .join(", ")
    : "";
const day = (value: unknown): string => toText(value).slice(0, 10);

/** `name: value` lines without those that are empty. */
const listFacts = (facts: Readonly<Record<string, string>>): string =>
  Object.entries(facts)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `- ${name}: ${value}`)
    .join("\n");

const join = (parts: readonly string[]): string => parts.filter((part) => part.trim() !== "").join("\n\n");

const getState = (item: Json): string =>
  item["merged_at"] !== undefined && item["merged_at"] !== null
    ? "merged"
    : item["draft"] === true
      ? "draft"
      : toText(item["state"]);

export const formatThreadLine = (item: Json): string => {
  const labels = getNames(item["labels"], "name");
  const comments = Number(item["comments"] ?? 0);
  return `#${toText(item["number"])} [${getState(item)}] ${toText(item["title"])} (${[getLogin(item), day(item["updated_at"]), labels, comments > 0 ? `${comments} comments` : ""].filter(Boolean).join("; ")})`;
};

interface Thread {
  readonly repository: string;
  readonly item: Json;
  readonly comments: readonly Json[];
  readonly reviews?: readonly Json[];
  readonly files?: readonly Json[];
  readonly isPart: boolean;
}

export const formatThread = ({ repository, item, comments, reviews, files, isPart }: Thread): string =>
  join([
    `# ${repository}#${toText(item["number"])}: ${toText(item["title"])}`,
    listFacts({
      state: getState(item),
      author: getLogin(item),
      created: day(item["created_at"]),
      labels: getNames(item["labels"], "name"),
      assignees: getNames(item["assignees"], "login"),
      branches: item["head"]
        ? `${toText(asRecord(item["head"])["label"])} → ${toText(asRecord(item["base"])["ref"])}`
        : "",
      mergeable: toText(item["mergeable_state"]),
      address: toText(item["html_url"]),
    }),
    toText(item["body"]),
    files && files.length > 0
      ? `## Files\n\n${files.map((file) => `- ${toText(file["status"])} ${toText(file["filename"])} (+${toText(file["additions"])} −${toText(file["deletions"])})`).join("\n")}`
      : "",
    ...comments.map(
      (comment) => `## ${getLogin(comment)}, ${day(comment["created_at"])}\n\n${toText(comment["body"])}`,
    ),
    ...(reviews ?? []).map(formatReview),
    isPart ? "[There are more comments than are shown.]" : "",
  ]);

export const formatReview = (review: Json): string =>
  `## Review of ${getLogin(review)}, ${day(review["submitted_at"])}: ${toText(review["state"]).toLowerCase()}\n\n${toText(review["body"])}`.trim();

export const formatReviewComment = (comment: Json): string =>
  `## ${getLogin(comment)} at ${toText(comment["path"])}:${toText(comment["line"] ?? comment["original_line"])}\n\n${toText(comment["body"])}`;

export const formatRunLine = (run: Json): string =>
  `${toText(run["id"])} [${toText(run["conclusion"]) || toText(run["status"])}] ${toText(run["name"])}: ${toText(run["display_title"])} (${toText(run["head_branch"])}, ${day(run["created_at"])})`;

export const formatRun = (run: Json, jobs: readonly Json[]): string =>
  join([
    `# Run ${toText(run["id"])}: ${toText(run["name"])}`,
    listFacts({
      status: toText(run["status"]),
      conclusion: toText(run["conclusion"]),
      title: toText(run["display_title"]),
      branch: toText(run["head_branch"]),
      commit: toText(run["head_sha"]).slice(0, 12),
      address: toText(run["html_url"]),
    }),
    ...jobs.map((job) => {
      const steps = Array.isArray(job["steps"]) ? job["steps"].filter(isRecord) : [];
      const shown = steps.map(
        (step) => `- ${toText(step["conclusion"]) || toText(step["status"])}: ${toText(step["name"])}`,
      );
      return `## ${toText(job["name"])}: ${toText(job["conclusion"]) || toText(job["status"])}\n\n${shown.join("\n")}`;
    }),
  ]);

export const formatReleaseLine = (release: Json): string =>
  `${toText(release["tag_name"])} ${toText(release["name"])} (${day(release["published_at"]) || "not published"}${release["draft"] === true ? "; draft" : ""}${release["prerelease"] === true ? "; prerelease" : ""})`;

export const formatRelease = (release: Json): string => {
  const assets = Array.isArray(release["assets"]) ? release["assets"].filter(isRecord) : [];
  return join([
    `# ${toText(release["name"]) || toText(release["tag_name"])}`,
    listFacts({
      tag: toText(release["tag_name"]),
      published: day(release["published_at"]),
      address: toText(release["html_url"]),
    }),
    toText(release["body"]),
    assets.length > 0
      ? `## Files\n\n${assets.map((asset) => `- ${toText(asset["name"])} (${toText(asset["size"])} bytes)`).join("\n")}`
      : "",
  ]);
};

export const formatCodeLine = (item: Json): string => {
  const matches = Array.isArray(item["text_matches"]) ? item["text_matches"].filter(isRecord) : [];
  const excerpt = matches
    .map((match) => `\n    ${toText(match["fragment"]).slice(0, 300).replaceAll("\n", "\n    ")}`)
    .join("");
  return `${toText(asRecord(item["repository"])["full_name"])}: ${toText(item["path"])}${excerpt}`;
};
