/** Storing a key, or logging in with a provider's own login. What the user has to do comes as notices of the session. */
import type { AgentSession } from "../agent-session/agent-session.ts";
import {
  checkProvider,
  literalKey,
  type LoginEvent,
  type LoginInteraction,
  type LoginQuestion,
  parseTypedKey,
} from "@tau/config/auth";
import { HarnessError } from "@tau/protocol";

/** The logins of one session. */
export class Logins {
  readonly #session: AgentSession;
  readonly #waiting = new Set<AbortController>();
  /** Takes what the user pastes into a login. The last one that asked comes first. */
  readonly #pasting = new Set<(text: string) => void>();

  constructor(session: AgentSession) {
    this.#session = session;
  }

  async storeKey(provider: string, text: string): Promise<void> {
    const { authStorage: auth, modelRegistry: registry } = this.#session;
    checkProvider(provider, { auth, registry });
    const typed = parseTypedKey(text);
    if (typed.kind === "wrong") throw new HarnessError("invalid_input", typed.message);
    await auth.set(provider, { type: "api_key", key: literalKey(typed.key) });
  }

  /** Resolves when the user has logged in; rejects if they have not. `canPaste`: whether `paste` may be called. */
  async logIn(provider: string, canPaste: boolean): Promise<void> {
    const controller = new AbortController();
    this.#waiting.add(controller);
    try {
      const { signal } = controller;
      const paste = { paste: (stop: AbortSignal) => this.#waitForPaste(stop) };
      const interaction = { ...this.#createInteraction(provider), ...(canPaste && paste) };
      const outcome = await this.#session.authStorage.login(provider, interaction, { signal });
      if (outcome.kind === "failed") throw new HarnessError("login_failed", outcome.failure.message);
    } finally {
      this.#waiting.delete(controller);
    }
  }

  /** Creates the questions of a login; those of an extension are asked like everything else that extensions ask. */
  #createInteraction(provider: string): LoginInteraction {
    const notify = (event: LoginEvent) => this.#session.notify("login", formatEvent(provider, event));
    const ui = this.#session.extensions?.ui;
    if (!ui) return { notify };
    const ask = async ({ message, placeholder, options }: LoginQuestion, signal: AbortSignal) => {
      if (!options) return await ui.input(message, placeholder, { signal });
      const labels = options.map(({ label }) => label);
      const chosen = await ui.select(message, labels, { signal });
      return options.find(({ label }) => label === chosen)?.id;
    };
    return { notify, ask };
  }

  /** Gives a login the address or the code that the browser shows at the end. False if no login waits for it. */
  paste(text: string): boolean {
    const take = [...this.#pasting].at(-1);
    take?.(text);
    return take !== undefined;
  }

  #waitForPaste(signal: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve) => {
      const settle = (text: string | undefined) => {
        this.#pasting.delete(settle);
        signal.removeEventListener("abort", stop);
        resolve(text);
      };
      const stop = () => settle(undefined);
      this.#pasting.add(settle);
      signal.addEventListener("abort", stop);
      if (signal.aborted) stop();
    });
  }

  /** Stops waiting for all logins. */
  abort(): void {
    for (const controller of this.#waiting) controller.abort();
  }
}

function formatEvent(provider: string, event: LoginEvent): string {
  const start = `To log in to ${provider}, open`;
  if (event.type === "message") return event.text;
  if (event.type === "auth_url") return `${start} ${event.url}${event.instructions ? `\n${event.instructions}` : ""}`;
  return `${start} ${event.completeUrl ?? event.verificationUrl} and enter the code ${event.userCode}.`;
}
