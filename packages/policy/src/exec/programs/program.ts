/**
 * The record of a program, as data that anybody who knows the program can correct. It applies to every name in it; a
 * program has only one record. A record holds for every name in it; a program stands in one record only. Patterns for
 * words are tested on the operands, joined by blanks.
 */
import type { ExecClass, ExecFinding } from "../classification.ts";
import type { DangerousCommandClass } from "../dangerous-class.ts";
import type { origins } from "../shell/text.ts";

export interface OptionSpec {
  /**
   * All options, separated by blanks. First the letters of short ones, `-` where there are none: a colon follows those that
   * take a value. Then the long ones: `=` follows those that take a value, `=?` those that may have one.
   */
  readonly options?: string;
  /** Whether the first operand ends the options, as for programs that run another one. */
  readonly stopsAtOperand?: boolean;
  /** Whether long options begin with one dash. */
  readonly hasSingleDash?: boolean;
}

/** Records by the names that they hold for, separated by blanks. */
export type Programs = Readonly<Record<string, Program>>;

/** If it does one thing only, that effect is a part of the record itself. */
export interface Program extends OptionSpec, Partial<Effect> {
  /** The name of a program that does the same. All but `is` is taken from that record, unless it is given here too. */
  readonly like?: string;
  readonly is?: readonly Trait[];
  /** The effects of the program by itself. Only the first that fits applies, and those before it with `also`. */
  readonly effects?: readonly Effect[];
  /** Rules for what data cannot say, by their names in `rules/index.ts`. */
  readonly rules?: readonly RuleName[];

  /** Options whose value is a program that nobody expects there; names as for `parseOptions`, separated by blanks. */
  readonly runs?: string;
  /** Options whose value is a line of shell code. */
  readonly code?: string;
  /** Options whose value is a file that is written, or a program behind a `|`. */
  readonly writes?: string;
  /** Finds shell code in arguments and input: words of a small language. */
  readonly embedded?: RegExp;
  /** The operand that it writes. A negative index counts from the end. */
  readonly writesOperand?: { readonly index: number; readonly min: number };
  /** Which arguments, joined by blanks, make it run its standard input. */
  readonly stdinCode?: RegExp;

  readonly wraps?: Wrapper;
  /** Its operands are shell code: `line` all of them together, `lines` each of them, `none` only options are. */
  readonly lines?: "line" | "lines" | "none";
  readonly language?: Language;

  /** The output of the program, by the name of a function in `rules/outputs.ts`. */
  readonly prints?: Printer;
  /** Which argument makes it print code for a shell to evaluate. */
  readonly printsCode?: RegExp;
  /** How it reads all files below a directory. */
  readonly readsBelow?: "flag" | "always" | "sources" | "archive";

  /** Which words install programs for the person, and options with a directory that replaces the usual place. */
  readonly installs?: { readonly words: RegExp; readonly into?: readonly string[] };
  /** Which calls of a package manager change the programs of the machine. */
  readonly changesMachine?: PackageManager;
  /** Which words change what others install; `always` where every call does. */
  readonly publishes?: RegExp | "always";
  /** Which first word sends the directory to a service. */
  readonly deploys?: RegExp;
  /** A client of a service: how many of its first words may be a verb that changes something there. */
  readonly client?: number;
  /** Calls that print secrets. */
  readonly secrets?: readonly SecretCall[];
  /** By their names, separated by blanks. */
  readonly subcommands?: Readonly<Record<string, Subcommand>>;
}

/** A subcommand of git: `effects` and `code` as for programs, and what they do with the work tree. */
export interface Subcommand extends Program {
  /** A rule of `rules/git.ts`, for what data cannot say. */
  readonly rule?: GitRule;
  /** Whether it changes files of the work tree. */
  readonly changesFiles?: true;
  /** Which calls throw away what was never committed. */
  readonly discards?: Condition;
  /** Whether it makes files or its input a part of the repository. */
  readonly stages?: true;
}

export type GitRule =
  | ("bisect" | "clean" | "clone" | "config" | "createBundle" | "exportTo" | "fetch" | "grep" | "init" | "push")
  | ("remote" | "revParse" | "submodule" | "worktree");

/** The kind of program that the rules take it for as a whole. */
export type Trait =
  /** Its arguments are mostly those of another program or its own affair, so that nothing is read into them. */
  | "runner"
  /** It destroys something itself. */
  | "harmful"
  /** The record does not say what else it runs. */
  | "partial"
  /** It destroys something of a service that it is a client of: the record says what. */
  | "destroys"
  /** It names files without showing what is in them, or has rules of its own for what it reads. */
  | "namesFiles"
  /** It only names files, deletes them or changes their rights. */
  | "readsNothing"
  /** `-o` does not name a file that it writes, or another rule says so. */
  | "otherO"
  /** Its arguments are text. */
  | "takesText"
  /** It shows, stores or searches text. */
  | "showsText"
  /** It searches files: its first operand is a pattern. */
  | "search"
  /** Given a disk, it only reads it. */
  | "readsDisks"
  /** People choose it to show text, to edit it, or to connect with. */
  | "viewer"
  /** It packs and unpacks a stream. */
  | "compressor";

/** A condition that must be true of the arguments. */
export interface Condition {
  /** Tested on all arguments, joined by blanks. */
  readonly line?: RegExp;
  /** Must fit one of the arguments. */
  readonly arg?: RegExp;
  /** Must fit none of the arguments. */
  readonly unless?: RegExp;
  /** How many arguments there must be. Default 0. */
  readonly min?: number;
}

/** An effect of a program if all conditions are true. None is for a call that only asks for help. */
export interface Effect extends Condition {
  /** Its tier and class. */
  readonly does: `${ExecFinding["tier"]} ${ExecClass}`;
  /** The reason. `$n` is the name, `$c` the first two words, `$1` a group of `words`. */
  readonly says: string;
  /** The class by the ten names, where it differs from the one that follows from `does`. */
  readonly as?: DangerousCommandClass;
  readonly words?: RegExp;
  /** Where what it prints then comes from. */
  readonly yields?: keyof typeof origins;
  /** Whether the effects behind it are looked at too. */
  readonly also?: true;
  /** Whether a call for help has the effect as well. */
  readonly always?: true;
}

/** A program that runs another one, which is named in its operands. */
interface Wrapper {
  /** Whether the record has all options, so that an unknown one means that the command cannot be found. */
  readonly isStrict?: true;
  /** Operands before the command: a duration, a file, a host. */
  readonly skip?: number;
  /** Whether there may be one operand more before the command. */
  readonly maySkip?: true;
  /** Whether the words of the command are joined and given to a shell. */
  readonly joins?: true;
  /** Must match the first word: `poetry run X` runs X, `poetry install` does not. */
  readonly verb?: RegExp;
  /** Whether the command gets other rights. */
  readonly isPrivileged?: true;
}

export interface Language {
  readonly name: string;
  /** Short options that are followed by code; they may be combined with others, as in `perl -pe`. */
  readonly code: string;
  /** Long options that are followed by code. */
  readonly longCode?: RegExp;
  /** Other options with a value. */
  readonly valued?: RegExp;
  /** Options that take the rest of their word as a value. Default: those of perl. */
  readonly attached?: RegExp;
  /** The option that writes the result of the code to the files that it reads. */
  readonly inPlace?: RegExp;
  /** Options that load code from a file. */
  readonly loads?: RegExp;
  /** Subcommands that are followed by code. */
  readonly verb?: RegExp;
  /** Options with the name of a module, which may continue with code; and those with a directory of modules. */
  readonly modules?: { readonly name: RegExp; readonly directory: RegExp };
}

export interface PackageManager {
  /** The first word that is no option; programs that have none of these only read. */
  readonly verb?: RegExp;
  /** Options that change something, where options are the subcommands. */
  readonly option?: RegExp;
  /** Options with which nothing is changed. */
  readonly harmless?: RegExp;
}

export interface SecretCall {
  /** Values of options may be among the words. Absent: any call. */
  readonly words?: RegExp;
  /** Must fit one of the arguments. */
  readonly option?: RegExp;
  /** Default high. `medium` where the output has secrets only sometimes, and people look at it for other things. */
  readonly tier?: "medium";
}

/** Names of the standard input, as the value of an option. A part of patterns. */
export const stdinName = String.raw`(?:-|/dev/stdin|/dev/fd/0|/proc/self/fd/0)(?: |$)`;

/** Words that ask a program for the code that sets up a shell. */
export const setupWords =
  /^(?:(?:\w+-)?init|hook|shellenv|env|completions?|activate|docker-env|shell|export|-s|-b|--sh|--shell|shell\..*)$/;

/** Names the functions of `rules/outputs.ts` that say what programs print. */
export type Printer =
  | ("basename" | "base64" | "client" | "counter" | "cut" | "dirname" | "echo" | "edit" | "environment" | "hexDump")
  | ("identity" | "list" | "mktemp" | "nothing" | "openssl" | "pack" | "pass" | "pgrep" | "pidof" | "processes" | "pwd")
  | ("realPath" | "rev" | "translate" | "value" | "which" | "yes");

/** Rules that are code, of `rules/index.ts`. */
export type RuleName =
  | (
      | "apt"
      | "asdf"
      | "at"
      | "awk"
      | "awsCopy"
      | "capsh"
      | "cargo"
      | "chmod"
      | "chown"
      | "clientCode"
      | "cmake"
      | "conda"
    )
  | ("copy" | "copyCloud" | "copyRemote" | "cpio" | "curl" | "database" | "dd" | "debugger" | "direnv" | "docker")
  | (
      | "editor"
      | "env"
      | "erase"
      | "extract"
      | "fd"
      | "fetchOther"
      | "find"
      | "format"
      | "gcc"
      | "gcloud"
      | "getent"
      | "gh"
    )
  | ("git" | "go" | "gpg" | "groups" | "installFiles" | "java" | "kill" | "killByName" | "kubectl" | "less" | "library")
  | ("link" | "loader" | "logger" | "logrotate" | "make" | "man" | "maven" | "mkdir" | "move" | "multiCall" | "netcat")
  | (
      | "npm"
      | "npx"
      | "openssl"
      | "parallel"
      | "passwordStore"
      | "patch"
      | "pip"
      | "remoteShell"
      | "remove"
      | "removeAll"
    )
  | ("resolveName" | "rsync" | "runInside" | "runReceived" | "screen" | "sed" | "sendAll" | "shell" | "shred" | "socat")
  | ("sqlite" | "ssh" | "sshKeygen" | "stow" | "su" | "sudo" | "tar" | "tee" | "telnet" | "tmux" | "uv" | "wget")
  | ("writeOperands" | "writePaths" | "xargs" | "zip");
