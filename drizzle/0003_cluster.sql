DROP TABLE `flushes`;--> statement-breakpoint
DROP TABLE `nodes`;--> statement-breakpoint
DROP TABLE `revision`;--> statement-breakpoint
DROP TABLE `scrubs`;--> statement-breakpoint
DROP TABLE `writes`;