"""What the magics and the command line share: commands, options, messages and tables."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "clients.client": "CLIENTS Places Target",
        "clients.config_files": "backup_of",
        "commands.command": ("F Argument Call Command Front Halted SeveralErrors Shown WrongUsage offered usage"),
        "commands.table": "nearest_command",
        "commands.history": "NOTHING_ALIKE headline nothing_found",
        "models": "listed",
        "options": ("ADD SEARCH SHIELD Option is_option nearest refuse_unquoted_times search_of switch_among yes"),
        "running": "Change FolderWatch StoreProvider apply_changes",
    },
)
