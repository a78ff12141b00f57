/** Commands that change nothing, whatever their arguments are. Pure. */

/** Programs that only read and print. */
const readers = new Set("ls pwd cat head tail wc stat du df whoami uname which grep".split(" "));
const gitReaders = new Set("status log show diff blame ls-files rev-parse".split(" "));

/** Matches a command of words that a shell leaves as they are. */
const plainCommand = /^[\w@%+:,./~^-]+(?: +[\w@%+=:,./~^-]+)*$/;

/** Options of git that write a file or start a program. */
const doesMore = /^--(?:output|ext-diff|textconv|open-files-in-pager|exec|paginate)\b|^-[cOp]/;

/** Whether a command is known to change nothing. False does not say that it changes something. */
export function onlyReads(command: string): boolean {
  const text = command.trim();
  if (!plainCommand.test(text)) return false;
  const [program = "", ...rest] = text.split(/ +/);
  if (readers.has(program)) return true;
  const [subcommand = "", ...options] = rest;
  return program === "git" && gitReaders.has(subcommand) && !options.some((option) => doesMore.test(option));
}
