/** The port through which tools ask for the syntax of a source file. Parsers live elsewhere: tools only ask. */

/** Lines that belong together, such as a function. Lines are counted from 1. */
export interface SyntaxBlock {
  line: number;
  endLine: number;
}

export interface OutlineSymbol {
  name: string;
  /** Such as `function`. */
  kind: string;
  line: number;
  /** Counted from 1, in UTF-16 units. */
  column: number;
  endLine: number;
  /** How many symbols it is inside of. */
  depth: number;
}

export interface SyntaxOutline {
  kind: "outline";
  /** In the order of the text. */
  symbols: readonly OutlineSymbol[];
  /** At most one for each line: the largest that opens there, of more than one line. */
  blocks: readonly SyntaxBlock[];
  /** The line of the first syntax error; undefined if there is none. */
  errorLine?: number | undefined;
}

/** There is no parser for a file, or it gave no answer. The message is for the model, and says what to do. */
export interface SyntaxUnavailable {
  kind: "unavailable";
  message: string;
}

export interface Syntax {
  /** Whether there may be a parser for a file, by its name. Quick, and loads nothing. */
  knows(path: string): boolean;
  /** Whether `read` shows the outline of a long file. Called for each. Default false. */
  isShownByRead?(): boolean;
  /** Parses a text with `\n` line ends. `path` names the file, and its ending the language. Never rejects. */
  getOutline(path: string, text: string): Promise<SyntaxOutline | SyntaxUnavailable>;
}

/** Larger texts are hardly written by people, and take seconds. In bytes. */
export const maxSyntaxBytes = 1024 * 1024;
