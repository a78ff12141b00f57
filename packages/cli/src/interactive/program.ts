/** The part of the interface that depends on the terminal's own machine. The session may be on another one. */
import type { ImageContent } from "@tau/ai";
import type { LlamaRouter } from "../terminal/llama-router.ts";
import type { PromptHistory } from "../terminal/prompt-history.ts";
import type { SessionClient } from "./session-client.ts";

export interface Program {
  readonly version: string;
  /** The home directory of the user. */
  readonly home: string | undefined;
  /** Milliseconds since 1970. */
  now(): number;
  /** The prompts of all sessions of this user. */
  readonly history: PromptHistory;
  /** Undefined if the clipboard has no image, or cannot be read. */
  readClipboardImage(): Promise<ImageContent | undefined>;
  /** Undefined if there is no image at this path. `cwd` is where relative paths begin. */
  readImageFile(path: string, cwd: string): Promise<ImageContent | undefined>;
  /** Opens a session of another directory, with the settings and the trust of that one. */
  openSession(path: string, cwd: string): Promise<SessionClient>;
  isDirectory(path: string): Promise<boolean>;
  /** The user's own directory of tau, in which their instructions are. */
  readonly agentDir: string;
  /** Adds a line to the end of a file, which is created if it does not exist. Throws if that is not possible. */
  appendLine(path: string, line: string): Promise<void>;
  /** Opens the demonstration. */
  openDemo(): Promise<DemoSession>;
  /** Opens an address in a browser, where there is one. */
  openAddress(url: string): void;
  /** Runs the checks of `tau doctor`; resolves to what they say. */
  runDoctor(cwd: string): Promise<string>;
  /** Finds the router of llama.cpp. It may not be running. */
  openLlamaRouter(): Promise<LlamaRouter>;
  /** Undefined if it is not installed. */
  readChangelog(): Promise<string | undefined>;
  /** Writes a text about the terminal and the session to the directory of tau, without keys; resolves to the path. */
  writeDebugLog(text: string): Promise<string>;
  /** How pages are shared; a text if that is not possible, which says why. */
  findSharing(kind: "gist" | "link"): Promise<Sharing | string>;
}

/** A session with a scripted model, in a project of its own. */
export interface DemoSession {
  client: SessionClient;
  /** The request to the model. */
  request: string;
  /** Ends the session and removes the project. */
  close(): Promise<void>;
}

export interface Sharing {
  /** A file that only its owner can read. */
  path: string;
  /** Makes a secret gist or a link of the file; resolves to its address, and what else there is to say. */
  send(page?: { sessionId: string; title: string }): Promise<string>;
  /** Removes the file. */
  close(): Promise<void>;
}
