<?php
header('Content-Type: text/html');
readfile($_SERVER['DROME_ASSETS'] . '/html-228.html');
