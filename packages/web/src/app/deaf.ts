/** A question that has just come may get a click or a key that was meant for something else. */
import { useEffect, useState } from "preact/hooks";

const deafMs = 400;

/** Whether answers are ignored for now. */
export function useDeaf(): boolean {
  const [isDeaf, setDeaf] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setDeaf(false), deafMs);
    return () => clearTimeout(timer);
  }, []);
  return isDeaf;
}
