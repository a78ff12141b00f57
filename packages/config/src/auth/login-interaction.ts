/** The events that a login sends to the user interface. */
export type LoginEvent =
  /** Open it in a browser, or show it to the user. */
  | { type: "auth_url"; url: string; instructions?: string }
  | ({ type: "device_code" } & DeviceCode)
  /** Says what happens, or what to know. */
  | { type: "message"; text: string };

export interface DeviceCode {
  /** The user types it on the web page. */
  userCode: string;
  verificationUrl: string;
  /** The URL with the code in it. */
  completeUrl?: string;
  intervalMs: number;
  lifetimeMs: number;
}

export interface LoginInteraction {
  notify(event: LoginEvent): void;
  /**
   * Asks the user for the address or the code that the browser shows at the end. It is called while the redirect is waited
   * for too; `signal` aborts when it is no longer needed. Undefined cancels the login. Absent: nothing can be pasted.
   */
  paste?(signal: AbortSignal): Promise<string | undefined>;
  /** Asks the user something else, for logins that need it. Undefined cancels the login. Absent: nobody can be asked. */
  ask?(question: LoginQuestion, signal: AbortSignal): Promise<string | undefined>;
}

export interface LoginQuestion {
  message: string;
  placeholder?: string;
  /** The answer is the id of one of them. Absent: any text. */
  options?: readonly { id: string; label: string }[];
}
