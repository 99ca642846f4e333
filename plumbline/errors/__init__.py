"""Mistakes of users: the exception that stands for one, and how they are reported."""

from plumbline.errors.user_error import UserError

__all__ = ["UserError"]
