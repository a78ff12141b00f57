/** The clipboard of the system, for programs that have a native module for it. */

/** Undefined means that there is none, null that it has no text or no image. */
export interface NativeClipboard {
  getText(): Promise<string | null | undefined>;
  getImage(): Promise<Uint8Array | null | undefined>;
  setText?(text: string): Promise<void>;
}

/** Always undefined: this library has no native module. Programs then use commands of the system, or OSC 52. */
export const getNativeClipboard = (): NativeClipboard | undefined => undefined;
