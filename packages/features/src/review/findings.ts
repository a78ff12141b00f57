/** The findings of a review: their schema for a model, and their texts for people. Pure. */
import { isAbsolute, normalize, relative, sep } from "node:path";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";

/** The worst first. */
export const severities = ["critical", "high", "medium", "low"] as const;

type Severity = (typeof severities)[number];

interface Finding {
  /** Relative to the directory of the session, with slashes. */
  readonly file: string;
  /** 1-based, in the file after the change. */
  readonly line: number;
  readonly severity: Severity;
  readonly text: string;
}

export interface Review {
  /** The worst first, then by file and line. */
  readonly findings: readonly Finding[];
  readonly summary: string;
}

const maxFindings = 100;

export const reviewSchema = {
  type: "object",
  properties: {
    findings: {
      type: "array",
      maxItems: maxFindings,
      items: {
        type: "object",
        properties: {
          file: { type: "string", minLength: 1 },
          line: { type: "integer", minimum: 1 },
          severity: { type: "string", enum: [...severities] },
          text: { type: "string", minLength: 1 },
        },
        required: ["file", "line", "severity", "text"],
        additionalProperties: false,
      },
    },
    summary: { type: "string" },
  },
  required: ["findings", "summary"],
  additionalProperties: false,
};

/** Takes an answer that fits the schema. Throws an error for the model if a finding is about no file of the directory. */
export function toReview({ findings, summary }: Review, directory: string): Review {
  const own = findings.map((finding) => ({ ...finding, file: toOwnFile(finding.file, directory) }));
  return { findings: own.toSorted(compareFindings), summary: summary.trim() };
}

function toOwnFile(file: string, directory: string): string {
  const path = normalize(isAbsolute(file) ? relative(directory, file) : file);
  if (path !== "." && path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path))
    return path.split(sep).join("/");
  throw new Error(`${JSON.stringify(file)} is not a file below the working directory: name the file that is wrong.`);
}

const compareFindings = (a: Finding, b: Finding): number =>
  severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
  (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line);

export const isSeverity = (text: string): text is Severity => (severities as readonly string[]).includes(text);

/** Whether a finding is as bad as `limit`, or worse. */
export const isAtLeast = ({ severity }: Finding, limit: Severity): boolean =>
  severities.indexOf(severity) <= severities.indexOf(limit);

/** Formats a review for people, and for the model of the session. */
export function formatReview({ findings, summary }: Review, description: string): string {
  const count = findings.length === 1 ? "1 finding" : `${findings.length} findings`;
  const title = `Review of ${description}: ${findings.length === 0 ? "no findings" : count}`;
  return [title, ...(summary === "" ? [] : [toVisible(summary)]), ...findings.map(formatFinding)].join("\n\n");
}

const formatFinding = ({ file, line, severity, text }: Finding, index: number): string =>
  `${index + 1}. ${severity}: ${toVisibleLine(file, 300)}:${line}\n${toVisible(text.trim()).replaceAll(/^(?=.)/gm, "   ")}`;
