/** The values that a PDF is made of. */

export class PdfName {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A string of bytes, whose meaning depends on where it is. */
export class PdfString {
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/** A reference to an object. */
export class PdfRef {
  readonly number: number;
  constructor(number: number) {
    this.number = number;
  }
}

export type PdfDict = ReadonlyMap<string, PdfValue>;

/** A stream as it is in the file. */
export class PdfStream {
  readonly dict: PdfDict;
  /** In a file that is encrypted, so are these. */
  readonly raw: Uint8Array;
  constructor(dict: PdfDict, raw: Uint8Array) {
    this.dict = dict;
    this.raw = raw;
  }
}

/** A word that is neither a value nor a name: an operator of a page, or a word of the file such as `obj`. */
export class PdfWord {
  readonly word: string;
  constructor(word: string) {
    this.word = word;
  }
}

export type PdfValue =
  | null
  | boolean
  | number
  | PdfName
  | PdfString
  | PdfRef
  | PdfStream
  | PdfWord
  | PdfDict
  | readonly PdfValue[];

/** Why nothing can be read. Thrown inside, and a value for callers of `extractText`. */
export class PdfFailure extends Error {
  readonly kind: "encrypted" | "damaged" | "no_text" | "too_large";
  constructor(kind: PdfFailure["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The rest of the work that may be done for one file. */
export interface PdfBudget {
  /** Bytes that streams may still become. */
  bytes: number;
  /** Values that may still be parsed. */
  values: number;
}
