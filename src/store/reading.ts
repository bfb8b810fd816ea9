/** The numbers by which the database refers to accounts and keys, which people know by their IDs. */
export type { AccountNumber } from "../db/accounts.ts";

export type KeyNumber = number;
