/** Whether the page is used with a finger, where a keyboard on the screen covers half of it. */
export const isCoarse = (): boolean => matchMedia("(pointer: coarse)").matches;
