"""What the magics and the command line share: commands, options, messages and tables."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "clients.clients": "CLIENTS",
        "clients.files": "backup_of",
        "clients.places": "Places",
        "clients.targets": "ClientTarget JupyterTarget SkillTarget Target",
        "commands.command": "F Argument Call Command SeveralErrors WrongUsage offered usage",
        "commands.fixes": "NOTHING_ALIKE headline nothing_found",
        "commands.front": "Front Shown",
        "messages": "as_typed",
        "models": "listed",
        "opening": "line_of open_file",
        "options": "ADD SEARCH SHIELD Option is_option memory_of refuse_unquoted_times search_of switch_among yes",
        "store_provider": "StoreProvider",
        "watching.changes": "apply_changes",
        "watching.folder_watch": "FolderWatch WatchThread",
    },
)
