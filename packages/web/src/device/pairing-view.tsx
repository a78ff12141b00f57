/** The first thing a new device shows. */
import { useEffect, useState } from "preact/hooks";
import type { PairRequestData } from "@tau/protocol/gateway";
import { describeProblem } from "../app/attempt.ts";
import { Logo } from "../app/icons.tsx";
import { reportProblem } from "../app/problems.tsx";
import { type StoredValues, writeValue } from "./database.ts";
import { claimDevice, nameThisDevice, PairingError, requestPairing } from "./pairing.ts";

const pollMs = 2_000;

type State =
  | { kind: "asking" }
  | { kind: "shown"; request: PairRequestData }
  | { kind: "failed"; message: string }
  | { kind: "expired" };

export function PairingView({ onPaired }: { onPaired: (device: StoredValues["device"]) => void }) {
  const [state, setState] = useState<State>({ kind: "asking" });
  const [round, setRound] = useState(0);

  useEffect(() => {
    let isOver = false;
    let timer = 0;
    const run = async () => {
      try {
        const request = await requestPairing(nameThisDevice(navigator.userAgent));
        const endsAt = Date.now() + request.expiresInMs;
        if (!isOver) setState({ kind: "shown", request });
        while (!isOver && Date.now() < endsAt) {
          await new Promise((resolve) => (timer = window.setTimeout(resolve, pollMs)));
          const device = isOver ? undefined : await claimDevice(request).catch(ignoreLoss);
          if (!device) continue;
          // If it cannot be stored, this visit is the only one of the device.
          await writeValue("device", device).catch(reportProblem);
          return onPaired(device);
        }
        if (!isOver) setState({ kind: "expired" });
      } catch (error) {
        if (!isOver) setState({ kind: "failed", message: describeProblem(error) });
      }
    };
    void run();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [round]);

  const again = () => {
    setState({ kind: "asking" });
    setRound(round + 1);
  };
  return (
    <main class="pairing">
      <div class="pairing-card">
        <Logo />
        <h1>Pair this device</h1>
        <PairingBody state={state} onAgain={again} />
      </div>
    </main>
  );
}

/** The code is valid as long as before: the next request may arrive. */
function ignoreLoss(error: unknown): undefined {
  if (!(error instanceof PairingError) || error.code !== "unreachable") throw error;
}

function PairingBody({ state, onAgain }: { state: State; onAgain: () => void }) {
  if (state.kind === "asking") return <p class="muted">Asking the gateway for a code…</p>;
  if (state.kind !== "shown") {
    const text = state.kind === "failed" ? state.message : "The code was not typed in time.";
    return (
      <>
        <p role="alert">{text}</p>
        <button class="button primary" onClick={onAgain}>
          Get a new code
        </button>
      </>
    );
  }
  const { code } = state.request;
  const shown = `${code.slice(0, 4)}-${code.slice(4)}`;
  return (
    <>
      <p>On the machine where the gateway runs, type:</p>
      <pre class="pairing-command">
        <code>tau gateway pair {shown}</code>
      </pre>
      <p class="pairing-code" aria-label={`The code is ${[...code].join(" ")}`} data-testid="pairing-code">
        {shown}
      </p>
      <p class="muted" role="status">
        <span class="spinner" aria-hidden="true" /> Waiting for the code. It counts for five minutes.
      </p>
    </>
  );
}
