/** The checkers of whole projects: which commands there are, and how their output is read. Pure but for looking for programs. */
import { join, relative, isAbsolute } from "node:path";
import type { CodePlace, CodeSeverity } from "@tau/protocol/surface";
import { isWithin } from "@tau/tools/platform";
import { formatCommandLine } from "../kit/command-line.ts";
import { toVisibleLine } from "../kit/visible-text.ts";
import { findProgram, type FindOptions, hasMarker } from "./find-server.ts";

interface Checker {
  readonly program: string;
  readonly args: readonly string[];
  readonly rootMarkers: readonly string[];
  /** Reads a line of its output. Groups: path, line, column, severity, message, source. */
  readonly pattern: RegExp;
}

const checkers: readonly Checker[] = [
  {
    program: "tsc",
    args: ["--noEmit", "--pretty", "false"],
    rootMarkers: ["tsconfig.json"],
    pattern:
      /^(?<path>.+?)\((?<line>\d+),(?<column>\d+)\): (?<severity>error|warning|message) (?<source>TS\d+): (?<message>.*)$/,
  },
  {
    program: "cargo",
    args: ["check", "--quiet", "--message-format", "short"],
    rootMarkers: ["Cargo.toml"],
    pattern:
      /^(?<path>.+?):(?<line>\d+):(?<column>\d+): (?<severity>error|warning)(?:\[(?<source>\w+)\])?: (?<message>.*)$/,
  },
  {
    program: "go",
    args: ["build", "-o", "/dev/null", "./..."],
    rootMarkers: ["go.mod"],
    pattern: /^(?:vet: )?(?<path>[^:\s]+\.go):(?<line>\d+):(?:(?<column>\d+):)? (?<message>.*)$/,
  },
  {
    program: "pyright",
    args: [],
    rootMarkers: ["pyrightconfig.json", "pyproject.toml", "setup.py", "requirements.txt"],
    pattern:
      /^\s+(?<path>\S.*?):(?<line>\d+):(?<column>\d+) - (?<severity>error|warning|information): (?<message>.*?)(?: \((?<source>\w+)\))?$/,
  },
];

export interface FoundChecker {
  readonly checker: Checker;
  /** For a shell in the project's directory; undefined if it is not installed. */
  readonly command: string | undefined;
}

/** Lists the checkers of the kinds of project that the directory is. */
export function findCheckers(options: FindOptions): FoundChecker[] {
  const { cwd } = options;
  return checkers.flatMap((checker): FoundChecker[] => {
    if (!hasMarker(cwd, checker.rootMarkers)) return [];
    const path = findProgram(checker.program, cwd, options);
    if (path === undefined) return [{ checker, command: undefined }];
    const program = isWithin(cwd, path) ? `./${relative(cwd, path)}` : checker.program;
    return [{ checker, command: formatCommandLine([program, ...checker.args]) }];
  });
}

const severities: Readonly<Record<string, CodeSeverity>> = {
  error: "error",
  warning: "warning",
  information: "info",
  message: "info",
};

/** The problems in the output of a checker. */
export function parseProblems({ pattern }: Checker, output: string, cwd: string): CodePlace[] {
  return output.split("\n").flatMap((line): CodePlace[] => {
    const { path, line: number, column, severity, source, message } = pattern.exec(line)?.groups ?? {};
    if (path === undefined || message === undefined) return [];
    const absolute = isAbsolute(path) ? path : join(cwd, path);
    return [
      {
        path: isWithin(cwd, absolute) ? relative(cwd, absolute) : absolute,
        line: Number(number),
        ...(column !== undefined && { column: Number(column) }),
        severity: severities[severity ?? "error"] ?? "error",
        message: toVisibleLine(message, 1_000),
        ...(source !== undefined && { source }),
      },
    ];
  });
}
