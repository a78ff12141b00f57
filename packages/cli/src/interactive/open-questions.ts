/** The questions of the policy: one at a time, unless the user wants to answer later. */
import type { Approval, ApprovalAnswer } from "@tau/protocol";
import type { Component, Theme } from "@tau/tui";
import type { DialogStack } from "./dialog-stack.ts";
import { ApprovalDialog } from "./dialogs/approval.ts";

interface OpenQuestionsOptions {
  dialogs: DialogStack;
  theme: Theme;
  getRows: () => number;
  now: () => number;
  /** Sends an answer. Rejects if it was not taken. */
  answer: (approvalId: string, answer: ApprovalAnswer) => Promise<unknown>;
  /** Runs work that nobody waits for; what it throws is said. */
  run: (work: () => Promise<unknown>) => void;
  onPostponed: () => void;
  /** Stops the run that asks, which withdraws its questions. False if there is none. */
  stopRun: () => boolean;
}

export class OpenQuestions {
  readonly #options: OpenQuestionsOptions;
  #shown: { id: string; dialog: Component } | undefined;
  /** The ids of questions that are answered later. */
  readonly #postponed = new Set<string>();

  constructor(options: OpenQuestionsOptions) {
    this.#options = options;
  }

  /** Shows the first question that was not postponed; one that was answered elsewhere is closed. */
  update(approvals: readonly Approval[]): void {
    const approval = approvals.find(({ id }) => !this.#postponed.has(id));
    if (approval?.id === this.#shown?.id) return;
    const { dialogs, onPostponed } = this.#options;
    if (this.#shown) dialogs.close(this.#shown.dialog);
    this.#shown = undefined;
    if (!approval) return;
    const dialog = this.#createDialog(approval, approvals.length - 1, (answer) => {
      if (answer) return this.#send(approval, dialog, answer);
      this.#postponed.add(approval.id);
      onPostponed();
    });
    this.#shown = { id: approval.id, dialog };
    dialogs.open(dialog);
  }

  /** Asks one again. Resolves when it is answered or left open. */
  async ask(approval: Approval): Promise<void> {
    const { dialogs, answer } = this.#options;
    const chosen = await dialogs.ask<ApprovalAnswer | undefined>((finish) => this.#createDialog(approval, 0, finish));
    if (chosen) await answer(approval.id, chosen);
  }

  #send({ id }: Approval, dialog: Component, answer: ApprovalAnswer): void {
    const { dialogs, run } = this.#options;
    dialogs.close(dialog);
    run(async () => {
      try {
        await this.#options.answer(id, answer);
      } catch (error) {
        // While the question is open, it is asked again.
        if (this.#shown?.dialog === dialog) this.#shown = undefined;
        throw error;
      }
    });
  }

  /** `finish` gets undefined for later. */
  #createDialog(approval: Approval, others: number, finish: (answer: ApprovalAnswer | undefined) => void): Component {
    const { theme, getRows, now, stopRun } = this.#options;
    return new ApprovalDialog({
      approval,
      theme,
      others,
      getRows,
      now,
      onAnswer: finish,
      onLater: () => finish(undefined),
      onStop: () => {
        // A question that no run asks, such as about a port, is only answered.
        if (!stopRun()) finish({ decision: "deny" });
      },
    });
  }
}
