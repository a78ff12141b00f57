/** What a login needs from whoever shows it. */
export type LoginEvent =
  /** Open this in a browser, or let the person do so. */
  | { type: "auth_url"; url: string }
  | {
      type: "device_code";
      userCode: string;
      verificationUrl: string;
      /** The same with the code in it. */
      completeUrl?: string;
      intervalMs: number;
      lifetimeMs: number;
    };

export interface LoginInteraction {
  notify(event: LoginEvent): void;
  /**
   * Asks for the address or the code that the browser ends with. Asked while the browser is waited for too; `signal`
   * says that nobody needs it any more. Undefined cancels the login. Absent: nothing can be pasted.
   */
  paste?(signal: AbortSignal): Promise<string | undefined>;
}
