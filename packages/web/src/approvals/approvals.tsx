/** Questions of the policy. Everything that would happen is shown, and allowing takes a deliberate choice. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Approval, ApprovalAnswer } from "@tau/protocol";
import type { GatewayClient, RemoteSession } from "@tau/protocol/client";
import { useAttempt } from "../app/attempt.ts";
import { useDeaf } from "../app/deaf.ts";
import { isCoarse } from "../app/pointer.ts";
import { pluralise } from "../text/format.ts";
import { Hidden } from "../text/hidden.tsx";
import { listCommands } from "./list-commands.ts";

export interface ApprovalsProps {
  client: GatewayClient;
  session: RemoteSession;
  approvals: readonly Approval[];
}

export function Approvals({ client, session, approvals }: ApprovalsProps) {
  const [first, ...others] = approvals;
  const wasAnswered = useRef(false);
  useEffect(() => {
    // What had the focus is gone.
    if (!first && wasAnswered.current && !isCoarse()) document.getElementById("message")?.focus();
    wasAnswered.current = false;
  }, [first?.id]);
  if (!first) return null;
  const mayAnswer = client.hello?.scopes.includes("approve") ?? false;
  const onAnswered = () => {
    wasAnswered.current = true;
  };
  return (
    <Question
      key={first.id}
      session={session}
      approval={first}
      others={others.length}
      mayAnswer={mayAnswer}
      onAnswered={onAnswered}
    />
  );
}

const labels = {
  once: "Allow once",
  session: "For this session",
  project: "In this project",
  always: "Always",
} as const;

interface QuestionProps {
  session: RemoteSession;
  approval: Approval;
  others: number;
  mayAnswer: boolean;
  onAnswered: () => void;
}

function Question({ session, approval, others, mayAnswer, onAnswered }: QuestionProps) {
  const attempt = useAttempt();
  const [reason, setReason] = useState("");
  const isDeaf = useDeaf();
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    // Who writes goes on writing; else the question gets the keys.
    if (!(document.activeElement instanceof HTMLTextAreaElement)) box.current?.focus();
  }, []);
  const answer = (given: ApprovalAnswer) => {
    onAnswered();
    void attempt.run(() => session.call("approve", { approvalId: approval.id, ...given }));
  };
  const deny = () => answer({ decision: "deny", ...(reason.trim() !== "" && { message: reason.trim() }) });
  const isOff = isDeaf || attempt.isBusy || !mayAnswer;
  return (
    <section class="question" role="alertdialog" aria-label="A question" tabIndex={-1} ref={box}>
      <h2>
        Allow this?
        {others > 0 && <span class="muted small"> {pluralise(others, "more question")}</span>}
      </h2>
      <p class="question-summary">
        <Hidden text={approval.summary} /> <span class="muted">({approval.toolName})</span>
      </p>
      <QuestionFacts approval={approval} />
      <p class="muted small">
        <Hidden text={approval.reason} />
      </p>
      {attempt.problem !== "" && (
        <p class="problem" role="alert">
          {attempt.problem}
        </p>
      )}
      {!mayAnswer && <p class="muted small">This device may not answer questions.</p>}
      <Choices choices={approval.choices} isOff={isOff} onDeny={deny} onAllow={answer} />
      <input
        class="question-reason"
        placeholder="If no: why? The model is told."
        aria-label="Why not"
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && !isOff && deny()}
      />
    </section>
  );
}

interface ChoicesProps {
  choices: Approval["choices"];
  isOff: boolean;
  onDeny: () => void;
  onAllow: (answer: ApprovalAnswer) => void;
}

function Choices({ choices, isOff, onDeny, onAllow }: ChoicesProps) {
  const rules = new Set(choices.flatMap(({ rule }) => rule ?? []));
  // Told once, if all choices would remember the same.
  const sharedRule = rules.size === 1 ? [...rules][0] : undefined;
  return (
    <>
      {sharedRule !== undefined && (
        <p class="small">
          <span class="muted">What would be remembered:</span> <Rule text={sharedRule} />
        </p>
      )}
      <div class="question-choices">
        <button class="button" disabled={isOff} onClick={onDeny}>
          No
        </button>
        {choices.map(({ choice, rule }, index) => (
          <button
            key={index}
            class={choice === "once" ? "button primary" : "button"}
            disabled={isOff}
            onClick={() => onAllow({ decision: "allow", choice, ...(rule !== undefined && { rule }) })}
          >
            {labels[choice]}
            {rule !== undefined && sharedRule === undefined && <Rule text={rule} />}
          </button>
        ))}
      </div>
    </>
  );
}

const Rule = ({ text }: { text: string }) => (
  <code class="rule">
    <Hidden text={text} />
  </code>
);

function QuestionFacts({ approval: { commands, path, host } }: { approval: Approval }) {
  const lines = listCommands(commands ?? []);
  return (
    <>
      {lines.length > 0 && (
        <pre class="question-facts" tabIndex={0}>
          <Hidden text={lines.join("\n")} />
        </pre>
      )}
      {path !== undefined && (
        <pre class="question-facts">
          <Hidden text={path} />
        </pre>
      )}
      {host !== undefined && (
        <pre class="question-facts">
          <Hidden text={host} />
        </pre>
      )}
    </>
  );
}
