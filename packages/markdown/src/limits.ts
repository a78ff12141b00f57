/** How deep lists, quotes and emphasis are nested. Deeper ones could overflow the stack. */
export const maxDepth = 16;
