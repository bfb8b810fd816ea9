CREATE TABLE `audit` (
	`number` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`act` text NOT NULL,
	`account` text,
	`detail` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `blocks` (
	`account` integer NOT NULL,
	`instance` integer NOT NULL,
	`hash` blob NOT NULL,
	`erased_at` integer NOT NULL,
	PRIMARY KEY(`account`, `instance`, `hash`),
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`instance`) REFERENCES `instances`(`number`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `instances` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`secret` blob NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `instances_id_unique` ON `instances` (`id`);
--> statement-breakpoint
ALTER TABLE `accounts` ADD `retain_days` integer;
--> statement-breakpoint
ALTER TABLE `keys` ADD `expires_at` integer;
