/** Which programs read what is written to a terminal, and what that means for it. Pure. */

/** A process of the foreground group of a terminal. */
export interface ForegroundProcess {
  readonly pid: number;
  readonly parent: number;
  /** The name of its file; `?` where that is not known. */
  readonly program: string;
}

/** How a program takes what is written to it. */
type ReaderKind =
  /** Shell code. Programs that are not known may run it too: a remote shell, or one that another program starts. */
  | { readonly kind: "shell"; readonly isKnown: boolean }
  /** Code of another language, which `argv` would run with the code behind it. */
  | { readonly kind: "interpreter"; readonly argv: string }
  /** Keys and text of a program that draws on the whole screen. It runs a command only if it is asked to. */
  | { readonly kind: "screen" };

export type Reader = ReaderKind & { readonly pid: number; readonly program: string };

/** Each is the name of a program, with or without its version, and the command that runs code of its language. */
const interpreters: readonly (readonly [RegExp, string])[] = [
  [/^(?:python|pypy)[\d.]*$/, "python3 -c"],
  [/^(?:node|nodejs|bun)$/, "node -e"],
  [/^deno$/, "deno eval"],
  [/^ruby[\d.]*$/, "ruby -e"],
  [/^perl[\d.]*$/, "perl -e"],
  [/^php[\d.]*$/, "php -r"],
  [/^lua[\d.]*$/, "lua -e"],
  [/^R$/, "Rscript -e"],
  [/^psql$/, "psql -c"],
  [/^(?:mysql|mariadb)$/, "mysql -e"],
  [/^sqlite3?$/, "sqlite3 :memory:"],
];
const shells = /^(?:ba|da|a|k|mk|z|c|tc|fi|rba)?sh[\d.]*$|^busybox$/;
const screens = /^(?:vim?|nvim|vim\.\w+|view|vimdiff|nano|less|more|most|top|htop|btop)$/;

/** A program that is not known counts as a shell. */
export function classifyReader(program: string): ReaderKind {
  if (screens.test(program)) return { kind: "screen" };
  const argv = interpreters.find(([name]) => name.test(program))?.[1];
  return argv === undefined ? { kind: "shell", isKnown: shells.test(program) } : { kind: "interpreter", argv };
}

/**
 * The programs that may read. One with a child in the same group waits for it, as a shell waits for its command and git for its editor.
 * Without any, it is a program that is not known.
 */
export function findReaders(processes: readonly ForegroundProcess[]): Reader[] {
  const parents = new Set(processes.map(({ parent }) => parent));
  const reading = processes.filter(({ pid }) => !parents.has(pid));
  const readers = reading.map(({ pid, program }) => ({ ...classifyReader(program), pid, program }));
  return readers.length > 0 ? readers : [{ ...classifyReader("?"), pid: 0, program: "?" }];
}
