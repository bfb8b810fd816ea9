CREATE TABLE `deleted_accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`deleted_at` integer NOT NULL,
	`leads` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `deleted_keys` (
	`digest` blob PRIMARY KEY NOT NULL,
	`account` text NOT NULL,
	FOREIGN KEY (`account`) REFERENCES `deleted_accounts`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `ledger_gaps` (
	`number` integer PRIMARY KEY NOT NULL,
	`node` text DEFAULT '' NOT NULL,
	`begins_at` integer NOT NULL,
	`ends_at` integer,
	`reason` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `receipts` (
	`number` integer PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`erased_at` integer NOT NULL,
	`identity` blob NOT NULL,
	`receipt` text NOT NULL,
	`pending` text,
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `receipts_identity_unique` ON `receipts` (`identity`);--> statement-breakpoint
CREATE INDEX `receipts_by_account` ON `receipts` (`account`);--> statement-breakpoint
CREATE TABLE `residues` (
	`number` integer PRIMARY KEY NOT NULL
) STRICT;
--> statement-breakpoint
ALTER TABLE `disclosures` ADD `seen` integer;--> statement-breakpoint
ALTER TABLE `suppressed_digests` ADD `lifted_at` integer;--> statement-breakpoint
ALTER TABLE `suppressions` ADD `lifted_at` integer;--> statement-breakpoint
INSERT INTO `residues` (`number`) SELECT `number` FROM `accounts` WHERE `traces_left` > 0;--> statement-breakpoint
ALTER TABLE `accounts` DROP COLUMN `traces_left`;