/** How the program is called: by `bun` in a folder of sources, by its own name where it is one executable. */

/** What stands before the words of an admin command. */
export const adminCommand = Bun.isStandaloneExecutable ? "leadfile" : "bun admin";

/** What starts the server. */
export const startCommand = Bun.isStandaloneExecutable ? "leadfile serve" : "bun start";
