<?php
header('Content-Type: application/json');
echo json_encode(['message' => 'Hello World', 'number' => (int) $_GET['n']]);
