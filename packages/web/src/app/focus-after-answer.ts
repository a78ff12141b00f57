import { useEffect, useRef } from "preact/hooks";
import { isCoarse } from "./pointer.ts";

/**
 * Returns a function to call when the question is answered. After the last one, the focus goes to the message: what had it
 * is gone. `id` is that of the question that is shown.
 */
export function useFocusAfterAnswer(id: string | undefined): () => void {
  const wasAnswered = useRef(false);
  useEffect(() => {
    if (id === undefined && wasAnswered.current && !isCoarse()) document.getElementById("message")?.focus();
    wasAnswered.current = false;
  }, [id]);
  return () => {
    wasAnswered.current = true;
  };
}
