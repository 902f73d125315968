package cricketapp

// Facts is for the checks of replays, which lie outside.
var Facts = facts
