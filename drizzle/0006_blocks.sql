CREATE TABLE `__new_suppressions` (
	`account` integer NOT NULL,
	`hash` blob NOT NULL,
	`instance` integer,
	`erased_at` integer NOT NULL,
	`lifted_at` integer,
	PRIMARY KEY(`account`, `hash`),
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`instance`) REFERENCES `instances`(`number`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_suppressions` (`account`, `hash`, `instance`, `erased_at`, `lifted_at`) SELECT `account`, `hash`, `instance`, `erased_at`, `lifted_at` FROM `suppressions`;--> statement-breakpoint
INSERT INTO `__new_suppressions` (`account`, `hash`, `erased_at`, `lifted_at`) SELECT `account`, `digest`, `erased_at`, `lifted_at` FROM `suppressed_digests`;--> statement-breakpoint
DROP TABLE `suppressions`;--> statement-breakpoint
DROP TABLE `suppressed_digests`;--> statement-breakpoint
ALTER TABLE `__new_suppressions` RENAME TO `suppressions`;
