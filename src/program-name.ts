/** How the operator calls the program: through `bun` in a folder of sources, or as one executable. */

/** What stands before the words of an admin command. */
export const adminCommand = Bun.isStandaloneExecutable ? "leadfile" : "bun admin";

/** What starts the server. */
export const startCommand = Bun.isStandaloneExecutable ? "leadfile serve" : "bun start";
