/** Draws again when something outside of the page's elements has changed, at most once per frame. */
import { useEffect, useReducer } from "preact/hooks";

type Subscribe = (listener: () => void) => () => void;

export function useRedraw(subscribe: Subscribe, inputs: readonly unknown[]): void {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  useEffect(() => {
    let frame = 0;
    const stop = subscribe(() => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        redraw();
      });
    });
    // Something may have changed before anybody listened.
    redraw();
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, inputs);
}
