"""Records and answers → JSON values, text for a person, markdown for a model. The only printers.

What is stored may come from anywhere, so all text for people and models goes through `neutralize`: no tag, escape
sequence or control character of a memory reaches a terminal or a model as such.
"""
